"""Intake: receives files for any pipeline, uploaded by form or by tus, or taken from a source.

A pipeline package declares a target (`IntakeTarget`) and names it in its manifest (`PipelinePackage.intake`). This
package has what all targets share: the tables, the routes, the steps that receive a file, and the scans of sources.

    upload by form  ─┐
    upload by tus   ─┼─► intake_file, intake_part ──► receive ──► target.complete
    scan of a source ┘                                   └──────► clean_up

Tables are keyed by the name of the target and the target's own reference.
"""
