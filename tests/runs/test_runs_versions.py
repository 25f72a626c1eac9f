"""Versions of the library under test, from metadata only."""

from importlib import metadata

from harness.normalizers.discovery import find_normalizer
from harness.runs.versions import library_versions, versioned_normalizer


def test_library_comes_first_and_then_what_it_requires() -> None:
    found = library_versions(("pytest.anything",))
    assert next(iter(found.items())) == ("pytest", metadata.version("pytest"))
    assert found["pluggy"] == metadata.version("pluggy")


def test_client_of_this_package_has_no_library() -> None:
    assert library_versions(("harness.normalizers", "", "no_such_module")) == {}
    assert versioned_normalizer(find_normalizer("reference")).versions == {}
