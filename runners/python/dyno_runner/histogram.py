"""Histograms of durations, by the library that all runners measure with. They are made after the clock has
stopped."""

import ctypes
from collections.abc import Iterable

from .gauge import library


def text_of(nanoseconds: Iterable[int]) -> str:
    """Durations in HdrHistogram's compressed encoding; empty where there are no durations."""
    functions = library()
    functions.dyno_gauge_histogram_new.restype = ctypes.c_void_p
    record, text = functions.dyno_gauge_histogram_record, functions.dyno_gauge_histogram_text
    record.argtypes, record.restype = [ctypes.c_void_p, ctypes.c_uint64], None
    text.argtypes, text.restype = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t], ctypes.c_size_t
    functions.dyno_gauge_histogram_free.argtypes = [ctypes.c_void_p]
    histogram = functions.dyno_gauge_histogram_new()
    try:
        for one in nanoseconds:
            record(histogram, one)
        room = 1 + text(histogram, None, 0)
        found = ctypes.create_string_buffer(room)
        text(histogram, found, room)
        return found.value.decode("ascii")
    finally:
        functions.dyno_gauge_histogram_free(histogram)
