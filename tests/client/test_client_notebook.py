"""What a notebook shows of the handles, with nothing of a notebook installed."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import pytest
import schemaxis
import schemaxis.aio
from schemaxis import _html

from client.model_service import PICTURE, Model

DOCUMENT = {"version": "model/1", "nodes": []}
DRAWING = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


def source(media_type: str, data: bytes) -> str:
    return f"src='data:{media_type};base64,{base64.b64encode(data).decode()}'"


@pytest.fixture
def job(client: schemaxis.Client) -> schemaxis.Job:
    return client.tasks.create("x", ["model"]).plan(DOCUMENT).execute().wait()


def with_more(model: Model, job: schemaxis.Job, more: Sequence[tuple[str, str, bytes]]) -> schemaxis.Job:
    """The job as it would be had it published more pictures."""
    for name, media_type, data in more:
        model.jobs[job.job_id].resource_ids.append(
            model.resource(job.job_id, name, "picture/plot", media_type, data)
        )
    return job.refresh()


def test_a_picture_is_part_of_the_html_which_goes_before_it(job: schemaxis.Job) -> None:
    mesh, picture = job.resources
    assert picture._repr_html_().count(source("image/png", PICTURE)) == 1
    assert "<img" not in mesh._repr_html_()
    assert "body.stl" in mesh._repr_html_()
    assert (picture._repr_png_(), picture._repr_svg_()) == (PICTURE, None)
    assert (mesh._repr_png_(), mesh._repr_svg_()) == (None, None)


def test_a_drawing_is_shown_where_its_scripts_cannot_run(job: schemaxis.Job, model: Model) -> None:
    drawing = with_more(model, job, [("plot.svg", "image/svg+xml", DRAWING)]).resources[-1]
    assert drawing._repr_svg_() == DRAWING.decode()
    assert drawing._repr_png_() is None
    shown = drawing._repr_html_()
    assert source("image/svg+xml", DRAWING) in shown
    assert "<script" not in shown


def test_a_job_shows_its_pictures(job: schemaxis.Job, model: Model) -> None:
    shown = with_more(model, job, [("<b>.svg", "image/svg+xml", DRAWING)])._repr_html_()
    assert shown.startswith("<table>")
    assert shown.index(source("image/png", PICTURE)) < shown.index(source("image/svg+xml", DRAWING))
    assert "<b>" not in shown


def test_a_job_with_many_pictures_says_how_many_it_leaves_out(job: schemaxis.Job, model: Model) -> None:
    more = [(f"{number}.png", "image/png", PICTURE) for number in range(_html.MOST_PICTURES + 1)]
    shown = with_more(model, job, more)._repr_html_()
    assert shown.count("<img") == _html.MOST_PICTURES
    assert "2 more in its resources" in shown


def test_a_large_picture_is_not_put_into_the_notebook(
    job: schemaxis.Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_html, "MOST_PICTURE_BYTES", len(PICTURE) - 1)
    picture = job.resources[1]
    assert picture._repr_png_() is None
    assert "too many to be shown here" in picture._repr_html_()
    assert "<img" not in job._repr_html_()


def test_what_cannot_be_read_is_said_and_not_raised(job: schemaxis.Job, model: Model) -> None:
    picture = job.resources[1]
    held: Any = picture.record
    object.__setattr__(held, "sha256", "0" * 64)
    shown = picture._repr_html_()
    assert "body.png" in shown
    assert "<img" not in shown
    assert "<p>body.png: " in shown
    assert picture._repr_png_() is None


async def test_awaited_handles_show_what_they_know(aclient: schemaxis.aio.Client) -> None:
    job = await (await (await aclient.tasks.create("x", ["model"])).plan(DOCUMENT)).execute()
    picture = (await job.resources)[1]
    assert "body.png" in picture._repr_html_()
    assert "<img" not in picture._repr_html_() + job._repr_html_()
