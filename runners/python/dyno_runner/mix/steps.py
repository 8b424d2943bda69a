"""Files of steps, mapped: the steps of one client, or those that all share."""

import struct
from typing import Any

from ..failure import Failure
from ..inputs import map_cells
from .work import Field, Work

# The header of a step, before its fields, in bytes: its due time and its class.
HEAD = 16


class Steps:
    """A step is one tuple: its due time in nanoseconds since the clients began (0: at once), its class by
    position, and its fields. Bytes become text when the step's turn comes, as for every input of a driver."""

    def __init__(self, file: str, count: int, work: Work) -> None:
        fields, classes = work.fields, len(work.classes)
        self._layout = struct.Struct("<QQ" + "".join(_format(field) for field in fields))
        self.count = count
        self._data = map_cells(file, count, self._layout.size)
        if not count:
            raise Failure(f"there are no steps in {file}")
        self._texts = [place for place, field in enumerate(fields, 2) if field.kind == "text"]
        self._varying = [place for place, field in enumerate(fields, 2) if field.kind == "varying-text"]
        for place, step in enumerate(self._layout.iter_unpack(self._data)):
            if step[1] >= classes:
                raise Failure(f"step {place} names a class that is not there")
            for text in self._varying:
                if int.from_bytes(step[text][:8], "little") > len(step[text]) - 8:
                    raise Failure(f"a text of step {place} is longer than its field")
            for one in work.lists:
                if not 0 <= step[2 + one.count] <= one.most:
                    raise Failure(f"the list {one.name} of step {place} has more than {one.most} items")
        if self._texts or self._varying:
            self.get = self._with_texts

    def get(self, place: int) -> Any:
        """A step by its position."""
        layout = self._layout
        return layout.unpack_from(self._data, place * layout.size)

    def _with_texts(self, place: int) -> Any:
        layout = self._layout
        step = list(layout.unpack_from(self._data, place * layout.size))
        for text in self._texts:
            step[text] = str(step[text], "utf-8")
        for text in self._varying:
            cell = step[text]
            step[text] = str(cell[8 : 8 + int.from_bytes(cell[:8], "little")], "utf-8")
        return step


def load(work: Work) -> list[Steps]:
    """Maps every file of a mix."""
    return [Steps(file, count, work) for file, count in work.steps]


def _format(field: Field) -> str:
    match field.kind:
        case "integer":
            return "q"
        case "real":
            return "d"
        case "text" | "varying-text":
            return f"{field.bytes}s"
        case kind:
            raise Failure(
                f"the field {field.name} of a step is of the kind '{kind}', which this runner does not know"
            )
