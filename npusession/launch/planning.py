"""From the flags to a job: everything that can be wrong is found here, before anything starts."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.machinery
import os
import random
import sys
import tempfile
import typing

from .. import products
from .._schedulers import Place
from .._visible import Visible, visible_in
from ..backends import VARIABLE as BACKEND
from ..environment import FAKE_HUB as HUB
from ..environment import THIS_HOST
from . import affinity, devices, network, tables
from .environment import HIGHEST_PORT, MOST_DEVICES, Chief, Cluster, check_inherited, removed
from .job import Job, LaunchError, Rank, Request
from .layout import Layout, find_place, of_host, of_place

#: Families that take a cluster from the CM_* variables.
_CM_PRODUCTS = (products.Product.ATLAS_A2, products.Product.ATLAS_TRAINING)


def plan(request: Request, environ: typing.Mapping[str, str]) -> Job:
    """Return the job that a request comes to in an environment.

    Raises:
        LaunchError: it cannot be started like this; the message says what to change.
    """
    command = _command(request)
    fake = request.fake or environ.get(BACKEND) == "fake"
    place = find_place(request, environ)
    hosts = None if request.rank_table is None else tables.read(request.rank_table, None if fake else products.detect())
    visible = visible_in(environ)
    layout = of_place(request, place, hosts, visible) if place else of_host(request, hosts, visible)
    chosen = tuple(entry.device for entry in layout.entries)
    if not fake:
        devices.check(chosen)
    single = layout.nodes == 1
    cluster = Cluster(_job_id(request, environ, place, single), layout.size, fake=fake)
    rank_table = None
    if request.rank_table is not None:
        cluster = dataclasses.replace(cluster, table=os.path.abspath(request.rank_table))
    elif not fake and layout.size > 1 and (request.master_addr or request.master_port):
        cluster = dataclasses.replace(cluster, chief=_chief(request, layout, visible))
    elif not fake and layout.size > 1:
        if not single:
            raise LaunchError(
                "a job on several hosts needs a rank table (--rank-table FILE), or node 0's address and a port "
                "(--master-addr, --master-port; Atlas A2 and Atlas training series)"
            )
        rank_table = tables.make(layout.devices, products.detect())
        name = f"rank-table-{cluster.job_id}-{layout.entries[0].number}.json"
        path = os.path.join(request.log_dir or tempfile.gettempdir(), name)
        cluster = dataclasses.replace(cluster, table=os.path.abspath(path))
    if fake and layout.size > 1:
        cluster = dataclasses.replace(cluster, hub=_hub(request, environ, layout, place))
    blocks = _blocks(layout, chosen) if request.cpu_bind else None
    ranks = []
    for number, entry in enumerate(layout.entries):
        local = layout.first_local + number
        device = devices.as_counted(entry.device, visible)
        own = cluster.own(entry.rank_id, device, local, layout.local_size)
        ranks.append(Rank(entry.number, entry.device, own, None if blocks is None else blocks[number]))
    shared = cluster.shared()
    if fake:
        from ..backends.fake.importing import on_path

        # Scripts for the adapter find it emulated.
        shared.update(on_path(environ))
    job = Job(
        command=command,
        ranks=tuple(ranks),
        environ=shared,
        removed=removed(),
        rank_table=rank_table,
        log_dir=request.log_dir,
        tee=request.tee,
        timeout=request.timeout,
        grace=request.grace,
    )
    check_inherited(environ, [{**job.environ, **rank.environ} for rank in ranks])
    return job


def _command(request: Request) -> tuple[str, ...]:
    # Unbuffered, so that logs are up to date, and complete when a rank is killed.
    python = (sys.executable, "-u")
    if request.module:
        top = request.script.partition(".")[0]
        found = top and importlib.machinery.PathFinder.find_spec(top, [os.getcwd(), *sys.path])
        if not found and top not in sys.builtin_module_names:
            raise LaunchError(f"there is no module {request.script}; modules are looked for from {os.getcwd()}")
        return (*python, "-m", request.script, *request.arguments)
    if not os.path.exists(request.script):
        hint = "; for a module write -m" if "/" not in request.script and not request.script.endswith(".py") else ""
        raise LaunchError(f"there is no script {request.script} (from {os.getcwd()}){hint}")
    if not os.access(request.script, os.R_OK):
        raise LaunchError(f"the script {request.script} cannot be read by this user")
    return (*python, request.script, *request.arguments)


def _job_id(request: Request, environ: typing.Mapping[str, str], place: Place | None, single: bool) -> str:
    """Return a number that names this job only, and is the same on all of its hosts."""
    if environ.get("JOB_ID"):
        return environ["JOB_ID"]
    if place is None and single:
        return str(random.SystemRandom().randrange(1, 2**31))
    if place is not None and place.job:
        common = place.job
    elif request.master_addr is not None and request.master_port is not None:
        # A port serves one job at a time.
        common = network.joined(request.master_addr, request.master_port)
    elif request.rank_table is not None:
        with open(request.rank_table, "rb") as file:
            common = hashlib.sha256(file.read()).hexdigest()
    else:
        raise LaunchError(
            "the processes of this job share nothing to name it by: give all the same --master-addr and --master-port, "
            "or the same variable JOB_ID"
        )
    return str(int(hashlib.sha256(common.encode("utf-8", "surrogateescape")).hexdigest()[:8], 16) % (2**31 - 1) + 1)


def _chief(request: Request, layout: Layout, visible: Visible | None) -> Chief:
    address, port = _master(request)
    product = products.detect()
    if product is not None and product not in _CM_PRODUCTS:
        raise LaunchError(
            f"{product.value} takes its cluster from a rank table only, not from an address: use --rank-table"
        )
    if port > HIGHEST_PORT:
        raise LaunchError(f"--master-port {port}: CM_CHIEF_PORT goes up to {HIGHEST_PORT}")
    if layout.size > MOST_DEVICES:
        raise LaunchError(f"{layout.size} ranks: CM_WORKER_SIZE goes up to {MOST_DEVICES}")
    if layout.node == 0 and layout.first_local == 0:
        network.check_listening(address, port)
    first = devices.as_counted(layout.devices[0], visible)
    return Chief(address, port, first, network.own_address(address, port))


def _master(request: Request) -> tuple[str, int]:
    if request.master_addr is None or request.master_port is None:
        missing = "--master-addr" if request.master_addr is None else "--master-port"
        raise LaunchError(
            f"{missing} is missing: the hosts of a job meet at node 0's address, and at a port that is free there"
        )
    address = network.resolve(request.master_addr)
    if address.startswith("127.") and request.master_addr not in (address, "localhost"):
        raise LaunchError(
            f"--master-addr {request.master_addr} is {address} on this host, which no other host can reach "
            "(/etc/hosts often says so of a host's own name); give the address that the others use"
        )
    return address, request.master_port


def _hub(request: Request, environ: typing.Mapping[str, str], layout: Layout, place: Place | None) -> str:
    """Return where the ranks of an emulated job meet."""
    if environ.get(HUB):
        return environ[HUB]
    if layout.nodes == 1 and request.master_addr is None:
        if request.master_port is None:
            # Launchers that an engine has started share no port, but the job's name.
            return THIS_HOST if place is not None else network.joined("127.0.0.1", network.free_port())
        address, port = "127.0.0.1", request.master_port
    else:
        address, port = _master(request)
    if layout.node == 0 and layout.first_local == 0:
        network.check_listening(address, port)
    return network.joined(address, port)


def _blocks(layout: Layout, chosen: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the processors of each device: the same whichever devices of the host this job uses."""
    present = devices.of_this_host()
    if set(chosen) <= set(present):
        blocks = affinity.blocks(len(present))
        return [blocks[present.index(device)] for device in chosen]
    blocks = affinity.blocks(layout.local_size or layout.first_local + len(chosen))
    return blocks[layout.first_local :]
