"""The record of runs: a file of JSON lines that a session writes, and a page that shows it.

A file holds one section per session or system, each beginning with its ``session`` line. Lines of sessions that are
open at the same time may mix: ``section`` says which one each belongs to. All times are seconds; ``at`` counts from the
section's beginning.

=========== ======================================================================================================
event       fields
=========== ======================================================================================================
``session`` ``time`` (since 1970), ``version``, ``backend``, ``scene``, ``product``, ``device``, ``rank`` (null when
            HCCL is to count the ranks), ``rank_size``, ``process``, ``options`` (given ones, by name), ``warnings``,
            ``total_steps`` (null without accelerated training by step)
``stage``   a part of the life cycle: ``name``, ``at``, ``seconds``
``step``    one turn of a loop over ``steps()`` or ``run_for()``, one run of a train op, or one batch of Keras: ``step``
            (its number; the first of them with iterations_per_loop), ``at``, ``seconds``, ``loss`` (a number,
            ``"nan"``, ``"inf"``, or null when none was reported in this step), ``phase`` (``"low"``, ``"original"`` or
            null without accelerated training)
``warning`` what the training was warned of while it ran: ``text``, ``at``
``end``     ``at``, ``error`` (null when all went well)
=========== ======================================================================================================
"""

from .reader import RecordError, Section, read
from .writer import Record

__all__ = ["Record", "RecordError", "Section", "read"]
