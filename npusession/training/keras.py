"""A callback for Keras, which makes the loop itself."""

from __future__ import annotations

import time
import typing

from .._tensorflow import tf1

if typing.TYPE_CHECKING:
    from .hooks import Source
    from .state import TrainingState

tf1()
import tensorflow  # noqa: E402


class AcceleratedTrainingCallback(tensorflow.keras.callbacks.Callback):  # type: ignore[misc]
    """Tells the runtime how an accelerated training goes, in the ``fit`` of a Keras model.

    ::

        with plan as s:
            tf.compat.v1.keras.backend.set_session(s)
            model.fit(images, labels, callbacks=[AcceleratedTrainingCallback(s)])

    It begins with the optimizer's number of iterations, which a model that was loaded brings along. The loss is the
    one that Keras logs: of the batch in TensorFlow 1.15, the mean of the epoch so far in later versions. A plan's
    record gets its steps from it, too. Within ``plan.keras()`` each ``fit`` has one by itself.

    Args:
        source: the open session, or the :class:`~npusession.System`, whose plan has the accelerated training or
            the record.
    """

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source
        self._made = 0
        self._epoch_began = 0
        #: The training with a record, and of the batch at hand when it began, losses known before it, and the phase.
        self._recorded: TrainingState | None = None
        self._batch: tuple[float, int, str | None] = (0.0, 0, None)

    def on_train_begin(self, logs: typing.Any = None) -> None:
        """Begin with the steps that the optimizer has made."""
        iterations = getattr(self.model.optimizer, "iterations", None)
        if iterations is not None:
            self._made = int(tensorflow.keras.backend.get_value(iterations))
        self._source.report(step=self._made)
        training = self._source._training
        self._recorded = training if training is not None and training.record is not None else None

    def on_epoch_begin(self, epoch: int, logs: typing.Any = None) -> None:
        """Keras counts batches anew in each epoch."""
        self._epoch_began = self._made

    def on_train_batch_begin(self, batch: int, logs: typing.Any = None) -> None:
        """Note when it begins, for the record."""
        if self._recorded is not None:
            self._batch = time.perf_counter(), self._recorded.losses, self._recorded.phase

    def on_train_batch_end(self, batch: int, logs: typing.Any = None) -> None:
        """Tell the runtime, for the batch to come; a batch may stand for several that were one run."""
        ended, before = time.perf_counter(), self._made
        self._made = self._epoch_began + batch + 1
        self._source.report(step=self._made, loss=(logs or {}).get("loss"))
        if self._recorded is not None:
            assert self._recorded.record is not None
            started, losses, phase = self._batch
            self._recorded.record.run(self._recorded, before, started, ended, None, losses, phase)
