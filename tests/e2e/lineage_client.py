"""Checks that OpenLineage's own client, whose classes are generated from its schema, would write the same events.

    lineage_client.py EVENT.json...

Requires openlineage-python from PyPI, which ./dev lint packaging installs.
"""

import json
import sys

from openlineage.client.generated import base, parent_run
from openlineage.client.serde import Serde


def facet_of(name, said):
    fields = {key: value for key, value in said.items() if not key.startswith("_")}
    if name == "parent":
        return parent_run.ParentRunFacet(
            producer=said["_producer"],
            run=parent_run.Run(**fields["run"]),
            job=parent_run.Job(**fields["job"]),
        )
    return base.RunFacet(producer=said["_producer"]).with_additional_properties(**fields)


def event_of(said):
    facets = {name: facet_of(name, facet) for name, facet in said["run"]["facets"].items()}
    return base.RunEvent(
        eventType=base.EventType(said["eventType"]),
        eventTime=said["eventTime"],
        producer=said["producer"],
        run=base.Run(runId=said["run"]["runId"], facets=facets),
        job=base.Job(**said["job"]),
        inputs=said["inputs"],
        outputs=said["outputs"],
    )


def without_empty(value):
    if not isinstance(value, dict):
        return value
    parts = {key: without_empty(part) for key, part in value.items()}
    return {key: part for key, part in parts.items() if part != {}}


def comparable(event):
    """Excludes facets of Tidemark and of other versions, which have other schemas."""
    for facet in event["run"]["facets"].values():
        facet.pop("_schemaURL")
    return without_empty(event)


for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        said = json.load(file)
    written = comparable(Serde.to_dict(event_of(said)))
    said = comparable(said)
    if written != said:
        sys.exit(f"{path}: {json.dumps(said)} is not what the client writes: {json.dumps(written)}")
