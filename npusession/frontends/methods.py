"""What a plan offers beside its own sessions: TensorFlow's other ways to run a graph."""

from __future__ import annotations

import typing

from ..backends import load
from ..options.performance import ITERATIONS_PER_LOOP

if typing.TYPE_CHECKING:
    from ..running import RunningSession
    from ..session import NpuSession


class FrontendMethods:
    """The methods of :class:`npusession.NpuSession` for sessions of other kinds, and for estimators."""

    def loop(self, train_op: typing.Any) -> typing.Any:
        """Prepare a graph that will be final by the time that its session is open for iterations_per_loop.

        The number of steps is set by :meth:`RunningSession.loop`, or by the hooks of a session. Where the graph stays
        open, :meth:`RunningSession.loop` alone is enough.

        Args:
            train_op: the operation that makes a training step, or a tensor of it.

        Returns:
            The operation to run; ``train_op`` itself where a run makes one step.

        Raises:
            BackendError: the backend cannot be loaded.
        """
        plan = self._plan()
        if plan.options.get(ITERATIONS_PER_LOOP.name, 1) == 1:
            return train_op
        from ..training.loops import create

        return create(load(plan.backend), train_op)

    def monitored(
        self,
        *,
        checkpoint_dir: str | None = None,
        hooks: typing.Iterable[typing.Any] = (),
        step: typing.Any = None,
        loss: typing.Any = None,
        **keywords: typing.Any,
    ) -> typing.ContextManager[typing.Any]:
        """Return a context manager for a ``tf.train.MonitoredTrainingSession`` with the system opened around it.

        ::

            with plan.monitored(checkpoint_dir="/data/model", hooks=[tf.train.StopAtStepHook(1000)]) as session:
                while not session.should_stop():
                    session.run(train_op)

        Accelerated training and iterations_per_loop are followed by hooks. Rank 0 is the chief, and alone writes
        checkpoints and summaries; the other ranks restore from the same directory.

        Args:
            checkpoint_dir: directory to restore from, and for checkpoints and summaries.
            hooks: hooks of your own.
            step: what counts the steps made, as for :meth:`RunningSession.hooks`.
            loss: the loss, as for :meth:`RunningSession.hooks`; the plan's record has it.
            **keywords: further arguments of ``MonitoredTrainingSession``; ``config``, ``master`` and ``is_chief`` are
                the plan's.

        Raises:
            TypeError: an argument is the plan's.
            OptionsError: iterations_per_loop does not divide the steps of a save, summary or log line; and what
                :meth:`start` raises, when it is entered.
        """
        from .monitored import monitored

        return monitored(self._plan(), checkpoint_dir, hooks, step, loss, keywords)

    def supervisor(
        self, logdir: str | None = None, **keywords: typing.Any
    ) -> typing.ContextManager[tuple[typing.Any, typing.Any]]:
        """Return a context manager for a ``tf.train.Supervisor`` and its managed session.

        ::

            with plan.supervisor("/data/model") as (supervisor, session):
                while not supervisor.should_stop():
                    session.run(train_op)

        Rank 0 is the chief, and alone writes; the other ranks restore from ``logdir``.

        Args:
            logdir: directory to restore from, and for checkpoints and summaries.
            **keywords: further arguments of ``Supervisor``; ``graph`` and ``is_chief`` are the plan's.

        Raises:
            TypeError: an argument is the plan's.
            OptionsError: the plan has accelerated training and does not name the train op, by which it is followed
                here; and what :meth:`start` raises, when it is entered.
            GraphRequiredError: TensorFlow executes eagerly, which a Supervisor's threads cannot bear.
        """
        from .supervisor import supervisor

        return supervisor(self._plan(), logdir, keywords)

    def run_config(self, **keywords: typing.Any) -> typing.Any:
        """Return a ``tf.estimator.RunConfig`` with the plan as its session's configuration.

        ::

            with System(plan) as system:
                estimator = tf.estimator.Estimator(model_fn, config=system.plan.run_config(model_dir="/data/model"))
                estimator.train(input_fn, steps=1000, hooks=system.hooks())
                estimator.evaluate(test_input_fn)

        An Estimator saves and restores on each rank. So that several ranks do not write to one directory, rank 1 has
        ``model_dir="/data/model.rank1"`` where ``"/data/model"`` is given, and so on. The rank is known while a
        :class:`System` is held, and where the environment has RANK_ID.

        A plan with side files that are given as values has paths for them while a :class:`System` is held; take
        ``system.plan`` then, as above.

        Args:
            **keywords: the arguments of ``RunConfig``, but for ``session_config``.

        Raises:
            TypeError: ``session_config`` is given.
            OptionsError: iterations_per_loop does not divide the steps of a save, summary or log line.
            LifecycleError: this TensorFlow has no tf.estimator.
            ValueError: a side file was not written yet.
        """
        from .estimator import run_config

        return run_config(self._plan(), keywords)

    def npu_run_config(self, **keywords: typing.Any) -> typing.Any:
        """Return an NPURunConfig of the adapter, for NPUEstimator, whose keywords are the plan's options.

        Options that NPURunConfig groups go into its DumpConfig, ProfilingConfig, MemoryConfig, ExperimentalConfig and
        DynamicInputConfig. What the plan leaves out has NPURunConfig's own defaults, which the estimator writes.
        Ranks above 0 have a ``model_dir`` of their own, as for :meth:`run_config`.

        Args:
            **keywords: the arguments of NPURunConfig that are no options, such as ``model_dir`` or
                ``save_checkpoints_steps``.

        Raises:
            TypeError: an argument is an option, or ``session_config``.
            OptionsError: NPURunConfig has no keyword for an option, which a second NpuOptimizer entry could carry only
                past the runtime's checks; or iterations_per_loop does not divide the steps of a save, summary or log
                line.
            LifecycleError: this TensorFlow has no tf.estimator.
            BackendError: the backend cannot be loaded.
        """
        from .estimator import npu_run_config

        return npu_run_config(self._plan(), keywords)

    def interactive(self) -> RunningSession:
        """Open the session and make it and its graph the default ones until it is closed, for notebooks.

        ::

            s = plan.interactive()
            weight.initializer.run()
            print(weight.eval())
            s.close()

        Raises:
            OptionsError: and the others that :meth:`start` raises.
        """
        from .interactive import interactive

        return interactive(self._plan())

    def keras(self) -> typing.ContextManager[RunningSession]:
        """Return a context manager in which ``tf.keras`` runs in the plan's session; afterwards in what it ran before.

        Accelerated training and the record follow each ``fit``, by a callback that is added unless it is there.

        ::

            with plan.keras():
                model = build_model()
                model.compile("sgd", "mse")
                model.fit(images, labels)

        Raises:
            LifecycleError: this TensorFlow's Keras has no sessions; when it is entered, as the errors of :meth:`start`.
        """
        from .keras import keras

        return keras(self._plan())

    def _plan(self) -> NpuSession:
        return typing.cast("NpuSession", self)
