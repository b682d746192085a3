"""What an open session offers for training, beyond being a TensorFlow session."""

from __future__ import annotations

import functools
import os
import typing

if typing.TYPE_CHECKING:
    from ..opening import Opening
    from ..running import RunningSession
    from .acceleration import Acceleration
    from .state import TrainingState
    from .steps import Ran


class TrainingMethods:
    """The methods of :class:`npusession.RunningSession` for loops, prepared runs, reports and checkpoints."""

    _self_opening: Opening
    run: typing.Callable[..., typing.Any]

    @property
    def acceleration(self) -> Acceleration | None:
        """How the accelerated training stands: phase, switching point, and whether it has passed; else ``None``."""
        return self._self_opening.training.acceleration

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the last loop that was ``interruptible``."""
        return self._self_opening.training.interrupted

    def steps(
        self,
        total: int | None = None,
        *,
        initial: int | None = None,
        progress: bool = True,
        interruptible: bool = False,
    ) -> typing.Iterator[int]:
        """Yield the number of steps made so far, from ``initial`` to ``total - 1``, and keep the runtime informed.

        Under accelerated training by step, STEP_NOW is set to that number before the loop's body runs, so that each
        run sees the steps made before it. With iterations_per_loop in the plan it counts in that many.

        Args:
            total: steps of the whole training; by default the plan's.
            initial: steps already made. By default those of the checkpoint that was restored, else the plan's
                ``initial_step``; under accelerated training by step a later loop goes on where the last one ended.
            progress: whether to show progress: a bar on a terminal, log lines elsewhere, with rate, loss and phase.
            interruptible: whether Ctrl-C ends the loop after the step at hand, so that a checkpoint can be saved;
                :attr:`interrupted` tells afterwards. A second Ctrl-C interrupts at once. Main thread only.

        Raises:
            ValueError: no total is known, or it contradicts the plan's, ``initial`` lies outside it, or
                iterations_per_loop does not divide the steps.
        """
        from .steps import steps

        keywords: dict[str, typing.Any] = {"progress": progress, "interruptible": interruptible}
        return steps(self._self_opening, total, initial=initial, **keywords)

    def run_for(
        self,
        fetches: typing.Any,
        feed_dict: typing.Mapping[typing.Any, typing.Any] | typing.Callable[[], typing.Any] | None = None,
        *,
        steps: int | None = None,
        seconds: float | None = None,
        progress: bool = True,
        interruptible: bool = False,
    ) -> Ran:
        """Run the same fetches again and again, for a number of steps, a duration, or whichever ends first.

        It goes on from where the training is, so that it can be called again. Under accelerated training by step it
        keeps STEP_NOW and ends with the training at the latest.

        Args:
            fetches: what each run fetches, as for ``run``.
            feed_dict: what each run is fed, or a function that returns it, called before each run.
            steps: training steps to make; by default up to the end of the training that the plan knows.
            seconds: no run begins after as many seconds.
            progress: as for :meth:`steps`.
            interruptible: as for :meth:`steps`.

        Returns:
            ``Ran(steps, seconds, results)``: how many steps were made, in what time, and what the last run returned.

        Raises:
            ValueError: nothing ends it, it would go beyond the training's end, or iterations_per_loop does not divide
                the steps.
        """
        from .steps import run_for

        if callable(feed_dict):
            feeds = feed_dict

            def run() -> typing.Any:
                return self.run(fetches, feeds())
        else:
            keys, values = zip(*feed_dict.items()) if feed_dict else ((), ())
            prepared = self.prepare(fetches, list(keys))

            def run() -> typing.Any:
                return prepared(*values)

        return run_for(
            self._self_opening, run, steps=steps, seconds=seconds, progress=progress, interruptible=interruptible
        )

    def report(self, *, step: typing.Any = None, loss: typing.Any = None) -> None:
        """Say how far the training is; the progress shows it, and under accelerated training the runtime is told.

        Args:
            step: training steps made so far: what the run to come sees as STEP_NOW.
            loss: the loss of the last step, one number of any type: what the run to come sees as LOSS_NOW.

        Raises:
            TypeError: a value is not one number.
            ValueError: the step is outside 0 to 2**32 - 1.
            SessionClosedError: the session is closed.
        """
        self._self_opening.check()
        self._self_opening.training.report(step, loss)

    def prepare(self, fetches: typing.Any, feeds: typing.Any = ()) -> typing.Callable[..., typing.Any]:
        """Prepare a run, and return a function that makes it in a fraction of the time that ``run`` takes.

        ::

            train = s.prepare([train_op, loss], [images, labels])
            for step in s.steps():
                _, last = train(*next_batch())

        Args:
            fetches: what to fetch, nested as for ``run``.
            feeds: keys of the feeds, as in a ``feed_dict``; the function takes a value for each, in this order.

        Returns:
            The function. It returns what ``run`` returns, takes the values that ``run`` takes, and raises what
            ``run`` raises; once the session is closed, :class:`~npusession.SessionClosedError`.

        Raises:
            TypeError: a fetch is no part of a graph.
            ValueError: a fetch is not in the session's graph.
            SessionClosedError: the session is closed.
        """
        from .prepared import prepare

        self._self_opening.check()
        try:
            # The method of the class, with its explanations, which the instance may hide.
            return prepare(self._self_opening, functools.partial(type(self).run, self), fetches, feeds)
        except (AttributeError, TypeError, RuntimeError) as error:
            self._explain(error, fetches)
            raise

    def loop(self, train_op: typing.Any) -> typing.Any:
        """Have each run of the train op make as many steps as iterations_per_loop of the plan says.

        Call it after the variables were initialised, and run what it returns. A graph that is final needs
        :meth:`NpuSession.loop` before; hand its result to this method.

        Args:
            train_op: the operation that makes a training step, a tensor of it, or its name.

        Returns:
            The operation to run; ``train_op`` itself where a run makes one step.

        Raises:
            ValueError: the graph is final and was not prepared.
        """
        from .loops import load

        self._self_opening.check()
        return load(self._self_opening, train_op)

    def hooks(self, *, step: typing.Any = None, loss: typing.Any = None) -> list[typing.Any]:
        """Return the hooks that MonitoredSession and Estimator need to follow this session's plan.

        Args:
            step: what counts the steps made; by default the plan's, else the graph's global step.
            loss: the loss, a tensor or its name; by default the plan's. It is for accelerated training by the loss, and
                for the record.
        """
        from .hooks import hooks_of

        self._self_opening.check()
        return hooks_of(self._session(), step=step, loss=loss)

    def save(self, path: str | os.PathLike[str], *, step: int | None = None, saver: typing.Any = None) -> str | None:
        """Save the variables with ``tf.train.Saver``; of several ranks only rank 0 writes.

        Args:
            path: prefix of the checkpoint's files. Directories on the way are made.
            step: number that is added to the prefix; by default the graph's global step, where it has one.
            saver: by default the graph's own saver, and a new one when it has none.

        Returns:
            The prefix with its number, for :meth:`restore`; ``None`` on ranks other than 0.

        Raises:
            ValueError: there is nothing to save, or the graph is final and has no saver.
        """
        from .checkpoints import save

        self._self_opening.check()
        return save(self._session(), os.fspath(path), step, saver)

    def restore(self, path: str | os.PathLike[str], *, saver: typing.Any = None) -> int | None:
        """Restore the variables, on every rank, and go on counting from the checkpoint's global step.

        Args:
            path: prefix of a checkpoint's files, or a directory, of which the newest is taken.
            saver: as for :meth:`save`.

        Returns:
            The checkpoint's global step, ``None`` when it has none.

        Raises:
            FileNotFoundError: there is no checkpoint.
            ValueError: the graph is final and has no saver.
        """
        from .checkpoints import restore

        self._self_opening.check()
        return restore(self._session(), os.fspath(path), saver)

    @property
    def _training(self) -> TrainingState:
        return self._self_opening.training

    def _session(self) -> RunningSession:
        return typing.cast("RunningSession", self)

    def _explain(self, error: Exception, fetches: typing.Any) -> None:
        raise NotImplementedError
