"""Options whose views are made once are Beam's options."""

import copy
import pickle

from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions, TypeOptions

from pipelines.engines.options import Options

FLAGS = ["--direct_num_workers=3", "--runtime_type_check"]


def test_a_view_is_made_once_and_says_what_beams_says() -> None:
    options = Options(FLAGS)
    assert options.view_as(DirectOptions) is options.view_as(DirectOptions)
    for view in (DirectOptions, TypeOptions):
        assert str(options.view_as(view)) == str(PipelineOptions(FLAGS).view_as(view))
    assert options.get_all_options() == PipelineOptions(FLAGS).get_all_options()


def test_what_is_set_in_a_view_is_seen_in_all() -> None:
    options = Options(FLAGS)
    before = options.view_as(DirectOptions)
    options.view_as(DirectOptions).direct_num_workers = 5
    assert before.direct_num_workers == 5
    assert options.get_all_options()["direct_num_workers"] == 5


def test_copies_have_values_of_their_own() -> None:
    options = Options(FLAGS)
    options.view_as(DirectOptions).direct_num_workers = 5
    for copied in (copy.deepcopy(options), pickle.loads(pickle.dumps(options))):
        assert copied.view_as(DirectOptions).direct_num_workers == 5
        copied.view_as(DirectOptions).direct_num_workers = 7
        assert copied.get_all_options()["direct_num_workers"] == 7
    assert options.view_as(DirectOptions).direct_num_workers == 5


def test_a_copy_without_what_beam_keeps_to_itself_shares_its_values_with_its_views() -> None:
    options = Options([*FLAGS, "--impersonate_service_account=somebody"])
    options.view_as(DirectOptions)
    copied = copy.deepcopy(options)
    copied.view_as(DirectOptions).direct_num_workers = 7
    values = copied.get_all_options()
    assert (values["direct_num_workers"], values["impersonate_service_account"]) == (7, None)
