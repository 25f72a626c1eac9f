"""The benchmark measures what it says: the same calls for everybody, long and short streams."""

from benchmarks import replay as benchmark


def test_the_long_stream_is_one_call_in_so_many_fragments() -> None:
    stream = benchmark.long_stream(50)
    assert len(stream.reads) == 50 + len(("start", "finish", "usage", "done"))
    (arguments,) = benchmark.reference_whole([stream])
    assert arguments.startswith('{"content": "snow is')


def test_the_short_streams_differ_and_have_about_twenty_events() -> None:
    streams = benchmark.short_streams(20)
    assert len({stream.body for stream in streams}) == 20
    assert all(17 <= len(stream.reads) <= 25 for stream in streams)


def test_whole_and_recorded_read_the_same_calls() -> None:
    streams = [*benchmark.short_streams(5), benchmark.long_stream(30)]
    assert benchmark.reference_whole(streams) == benchmark.reference_recorded(streams)
    assert len(benchmark.reference_whole(streams)) == 6


def test_ratios_name_only_what_was_measured() -> None:
    named = {"reference": benchmark.reference_whole, "recorded": benchmark.reference_recorded}
    measured = benchmark.compare(benchmark.short_streams(2), named, repeats=1)
    assert (measured["streams"], measured["ratios"]) == (2, {})
    assert set(measured["seconds"]) == {"reference", "recorded"}
