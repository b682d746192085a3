"""The record of runs: a file of JSON lines that a session writes, and a page that shows it.

A file holds one section per session, each beginning with its ``session`` line. All times are seconds; ``at`` counts
from the section's beginning.

=========== ======================================================================================================
event       fields
=========== ======================================================================================================
``session`` ``time`` (since 1970), ``version``, ``backend``, ``scene``, ``product``, ``device``, ``rank``,
            ``rank_size``, ``process``, ``options`` (given ones, by name), ``warnings``, ``total_steps``
``stage``   a part of the life cycle: ``name``, ``at``, ``seconds``
``step``    one step of the loop: ``step``, ``at``, ``seconds``, ``loss`` (a number, ``"nan"``, ``"inf"`` or null),
            ``phase`` (``"low"``, ``"original"`` or null without accelerated training)
``end``     ``at``, ``error`` (null when all went well)
=========== ======================================================================================================
"""

from .reader import RecordError, Section, read
from .writer import Record

__all__ = ["Record", "RecordError", "Section", "read"]
