"""One atomic step: what visitors see is one whole tree at every moment."""

import html
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import PublishRefused
from harness.site.tree import building

DEPLOYMENT = "https://citehouse.example/"


def publish(site: Path, **files: str) -> None:
    """A build that adds those files."""
    with building(site, DEPLOYMENT, ()) as build:
        for name, text in files.items():
            build.write(f"{name}.txt", text.encode())


def seen(site: Path) -> dict[str, str]:
    """What visitors see, without the notes of a build about itself."""
    files = [path for path in sorted(site.rglob("*")) if path.is_file() and not path.name.startswith(".")]
    return {str(path.relative_to(site)): path.read_text() for path in files}


def builds(site: Path) -> list[str]:
    return sorted(path.name for path in site.parent.iterdir() if path.is_dir() and not path.is_symlink())


@pytest.mark.parametrize("prepared", [False, True], ids=["absent", "empty_folder"])
def test_a_fresh_place_becomes_a_link_to_the_first_build(tmp_path: Path, prepared: bool) -> None:
    site = tmp_path / "reports" / "site"
    if prepared:
        site.mkdir(parents=True)
    publish(site, a="1")
    assert site.is_symlink()
    assert seen(site) == {"a.txt": "1"}


def test_a_build_starts_as_the_tree_shown_and_shares_what_did_not_change(tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(site, a="1", b="1")
    first = (site / "a.txt").stat().st_ino
    publish(site, b="2", c="2")
    assert seen(site) == {"a.txt": "1", "b.txt": "2", "c.txt": "2"}
    assert (site / "a.txt").stat().st_ino == first


def test_a_changed_file_is_not_written_through_its_link(tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(site, a="1")
    earlier = site.resolve()
    publish(site, a="2")
    assert (earlier / "a.txt").read_text() == "1"


def test_the_build_shown_and_the_one_before_it_stay(tmp_path: Path) -> None:
    site = tmp_path / "site"
    for number in range(5):
        publish(site, a=str(number))
    assert builds(site) == [".site-4", ".site-5"]
    assert seen(site) == {"a.txt": "4"}


def test_a_build_that_fails_leaves_the_tree_and_no_rest(tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(site, a="1")
    with pytest.raises(RuntimeError, match="stop"), building(site, DEPLOYMENT, ()) as build:
        build.write("a.txt", b"2")
        raise RuntimeError("stop")
    assert seen(site) == {"a.txt": "1"}
    assert builds(site) == [".site-1"]


def test_a_publish_links_what_changed_and_not_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    publish(site, **{f"kept{number}": "1" for number in range(200)})
    publish(site, a="2")
    made = []
    link = os.link

    def counting(source: str, target: str, **named: bool) -> None:
        made.append(Path(source).name)
        link(source, target, **named)

    monkeypatch.setattr(os, "link", counting)
    publish(site, a="3", b="3")
    publish(site, a="4")
    assert sorted(made) == ["a.txt", "a.txt", "b.txt"]
    assert len(seen(site)) == 202


@given(
    st.lists(st.tuples(st.sets(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcd")), st.booleans()), max_size=8)
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_was_written_taken_away_and_broken_off_the_tree_is_what_was_shown_last(
    tmp_path: Path, steps: list[tuple[set[str], set[str], bool]]
) -> None:
    site = tmp_path / uuid4().hex / "site"
    model: dict[str, str] = {}
    for number, (written, removed, broken) in enumerate(steps):
        with suppress(RuntimeError), building(site, DEPLOYMENT, ()) as build:
            for name in written:
                build.write(f"x{name}.txt", str(number).encode())
            for name in removed:
                build.remove(f"x{name}.txt")
            if broken:
                raise RuntimeError("stop")
        if not broken:
            model |= {f"x{name}.txt": str(number) for name in written}
            model = {path: text for path, text in model.items() if path[1:-4] not in removed}
        assert (seen(site) if site.is_symlink() else {}) == model


def test_a_draft_is_moved_or_discarded_with_all_that_it_holds(tmp_path: Path) -> None:
    site = tmp_path / "site"
    for number in range(3):
        with building(site, DEPLOYMENT, ()) as build:
            for draft in ("kept", "lost"):
                build.write(f"{draft}/a.txt", str(number).encode())
            build.move("kept", f"r{number}")
            build.discard("lost")
    assert seen(site) == {"r0/a.txt": "0", "r1/a.txt": "1", "r2/a.txt": "2"}


def test_visitors_see_nothing_of_a_build_before_it_ends(tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(site, a="1")
    with building(site, DEPLOYMENT, ()) as build:
        build.write("a.txt", b"2")
        build.write("b.txt", b"2")
        assert seen(site) == {"a.txt": "1"}
    assert seen(site) == {"a.txt": "2", "b.txt": "2"}


def test_error_another_deployments_tree(tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(site, a="1")
    with pytest.raises(PublishRefused) as refused, building(site, "urn:citehouse:demo", ()):
        pass
    assert str(refused.value) == (
        f"{site}: is the tree of https://citehouse.example/, not of urn:citehouse:demo; name another folder"
    )
    assert seen(site) == {"a.txt": "1"}


def test_error_a_folder_that_publish_did_not_write(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "thesis.txt").write_text("mine")
    with pytest.raises(PublishRefused) as refused, building(site, DEPLOYMENT, ()):
        pass
    assert str(refused.value) == (
        f"{site}: holds files that publish did not write; name an empty folder or one of https://citehouse.example/"
    )
    assert (site / "thesis.txt").read_text() == "mine"


def test_error_a_link_to_nothing(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.symlink_to(".site-3")
    with pytest.raises(PublishRefused) as refused, building(site, DEPLOYMENT, ()):
        pass
    assert str(refused.value) == f"{site}: points to .site-3, which is gone; restore it or remove the link"


def test_a_removed_link_does_not_lose_history(tmp_path: Path) -> None:
    site = tmp_path / "site"
    publish(site, a="1")
    publish(site, b="2")
    site.unlink()
    publish(site, c="3")
    assert seen(site) == {"a.txt": "1", "b.txt": "2", "c.txt": "3"}


@pytest.mark.parametrize("canary", ["canary-7f3a", 'a<b & "c"', "§ κανάριος"])
@pytest.mark.parametrize("written", ["{}", "html", "json"])
def test_error_a_canary_in_any_of_its_written_forms(tmp_path: Path, canary: str, written: str) -> None:
    forms = {"{}": canary, "html": html.escape(canary), "json": json.dumps({"a": canary})}
    site = tmp_path / "site"
    publish(site, a="1")
    with pytest.raises(PublishRefused) as refused, building(site, DEPLOYMENT, (canary,)) as build:
        build.write("b/c.txt", b"x" * (1 << 20) + forms[written].encode())
    assert str(refused.value) == "b/c.txt: holds the canary of a held-out file; it was not published"
    assert seen(site) == {"a.txt": "1"}


def test_a_canary_across_two_blocks_is_found(tmp_path: Path) -> None:
    with pytest.raises(PublishRefused), building(tmp_path / "site", DEPLOYMENT, ("canary-7f3a",)) as build:
        build.write("a.txt", b"x" * ((1 << 20) - 5) + b"canary-7f3a")


_KILLED = """
import sys
from pathlib import Path
from harness.site import tree
from tests.site.killing import kill_at

kill_at(int(sys.argv[2]))
with tree.building(Path(sys.argv[1]), "https://citehouse.example/", ()) as build:
    build.write("a.txt", b"2")
    build.write("folder/b.txt", b"2")
"""


@pytest.mark.parametrize("history", [0, 1, 3])
def test_killed_at_any_call_the_tree_is_whole_and_the_next_publish_works(tmp_path: Path, history: int) -> None:
    whole = {"a.txt": "2", "folder/b.txt": "2"}
    killed = 0
    for at in range(1, 60):
        site = tmp_path / str(at) / "site"
        for number in range(history):
            publish(site, a=f"old {number}", kept="yes")
        before = seen(site) if history else {}
        ended = subprocess.run([sys.executable, "-c", _KILLED, str(site), str(at)], check=False)
        if ended.returncode == 0:
            break
        killed += 1
        assert (seen(site) if site.is_symlink() else {}) in (before, before | whole)
        publish(site, c="3")
        assert seen(site) in (before | {"c.txt": "3"}, before | whole | {"c.txt": "3"})
        assert not (site.parent / ".site-link").exists()
    assert killed > 10
    assert ended.returncode == 0
