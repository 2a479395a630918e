"""What people ask of crawlers, and what this one promises: each with the tests that prove it."""

from __future__ import annotations

import ast
import functools
from typing import NamedTuple

import pytest

from tests.conftest import ROOT


class Wish(NamedTuple):
    """A wish: who asks for it (issues of other crawlers), in a few words, and its proofs (``file::test``)."""

    who: str
    what: str
    proofs: tuple[str, ...]


WISHES = (
    Wish(
        "scrapy#7978",
        "a crash, a second Ctrl-C or a power cut loses no link, no request in flight and nothing found",
        (
            "crawl/test_truth.py::test_killed_ten_times",
            "crawl/test_truth.py::test_a_signal_loses_nothing",
            "hostile/test_machine.py::test_a_torn_log_loses_the_last_commits_alone",
            "hostile/test_machine.py::test_signals_lose_nothing",
        ),
    ),
    Wish(
        "heritrix3#500, crawlee-python#897, browsertrix-crawler#85",
        "stop tonight, go on tomorrow, by one plain command",
        (
            "crawl/test_crawl.py::test_max_pages_is_exact",
            "cli/test_crawl.py::test_the_first_signal_lets_it_finish",
            "cli/test_night.py::test_the_crontab_works_as_given",
        ),
    ),
    Wish(
        "crawlee-python#1033",
        "after an outage, put the failed links back",
        (
            "cli/test_output.py::test_retry_lets_failed_links_wait",
            "cli/test_questions.py::test_a_class_of_failures_is_a_reason",
            "crawl/test_parts.py::test_a_failure_is_tried_again_later_each_time",
        ),
    ),
    Wish(
        "Norconex/crawler#107",
        "a power cut leaves no empty state from which the next run begins afresh",
        (
            "hostile/test_machine.py::test_a_torn_log_loses_the_last_commits_alone",
            "store/test_sharing.py::test_killed_while_it_writes",
        ),
    ),
    Wish(
        "scrapy#3849, httrack#1738, linkchecker#347, yacy_search_server#524",
        "Retry-After is obeyed, and 429 slows the host down",
        (
            "crawl/test_restart.py::test_retry_after_outlives_a_kill",
            "crawl/test_restart.py::test_retry_after_is_capped",
            "fetch/test_pace.py::test_slower_when_told",
            "fetch/test_pace.py::test_gently_back",
        ),
    ),
    Wish(
        "scrapy#2638, #2474, #3140, #1802",
        "one slow or waiting host does not fill all the slots",
        (
            "crawl/test_crawl.py::test_waiting_hosts_block_nobody",
            "fetch/test_connections.py::test_a_busy_host_blocks_no_other",
        ),
    ),
    Wish(
        "scrapy#5307",
        "what was seen is not kept in memory",
        ("store/test_frontier_machine.py::test_the_frontier_is_a_dict", "store/test_plans.py::test_no_full_scan"),
    ),
    Wish(
        "scrapy-redis#97, #144, scrapy-cluster#123",
        "many machines share a crawl without a queue that lives in memory",
        ("store/test_sharing.py::test_processes_share", "crawl/test_truth.py::test_two_crawls_share_a_database"),
    ),
    Wish(
        "linkchecker#535, wummel/linkchecker#615",
        "under cron, silence and code 0 when all is well",
        ("cli/test_night.py::test_the_crontab_works_as_given", "cli/test_crawl.py::test_quiet_and_verbose"),
    ),
    Wish(
        "linkchecker#844, browsertrix-crawler#584",
        "a code of its own for each kind of end",
        (
            "cli/test_ending.py::test_each_error_has_its_code",
            "cli/test_ending.py::test_every_way_out_has_a_code",
            "cli/test_crawl.py::test_a_limit_that_ends_a_crawl_is_code_4",
        ),
    ),
    Wish(
        "linkchecker#876",
        "a crontab line in the manual that works as given",
        ("cli/test_night.py::test_the_crontab_works_as_given", "cli/test_night.py::test_systemd_takes_the_units"),
    ),
    Wish(
        "openartbrowser#120, Norconex/crawler#615",
        "never two runs on one state, and no stale lock that stops the next night's",
        (
            "cli/test_alone.py::test_the_second_leaves_at_once_with_code_8",
            "store/test_exclusive.py::test_of_many_that_begin_at_once_one_is_alone",
            "crawl/test_parts.py::test_a_process_is_known_from_its_number_used_again",
            "crawl/test_truth.py::test_killed_ten_times",
        ),
    ),
    Wish(
        "linkchecker#545, #193, linkinator#534, browsertrix-crawler#73",
        "delay and connections by host; Crawl-delay is obeyed",
        (
            "crawl/test_crawl.py::test_the_delay_is_kept",
            "crawl/test_crawl.py::test_per_host_opens_more_connections",
            "crawl/test_crawl.py::test_a_delay_beyond_all_measure",
            "crawl/test_workers.py::test_gaps_are_kept",
        ),
    ),
    Wish(
        "Norconex/crawler#637, #182, stormcrawler#33, grab-site#54",
        "only what changed is fetched again",
        (
            "crawl/test_again.py::test_an_unchanged_site_is_not_read_again",
            "crawl/test_again.py::test_what_changed_is_new_or_gone",
            "crawl/test_sitemaps.py::test_a_sitemap_tells_what_changed",
            "crawl/test_sitemaps.py::test_an_index_tells_which_sitemap_changed",
        ),
    ),
    Wish(
        "browsertrix-crawler#1017, #884, browsertrix#1372",
        "copies wait, so that what may be read goes to new pages",
        (
            "crawl/test_again.py::test_copies_wait_behind_all_else",
            "crawl/test_near.py::test_near_copies_are_copies",
            "crawl/test_near.py::test_no_page_is_lost",
        ),
    ),
    Wish(
        "browsertrix-crawler#931, crawler4j#8, spidergram#42",
        "addresses without end come to an end without rules written by hand",
        (
            "crawl/test_traps.py::test_a_site_full_of_traps_ends",
            "crawl/test_traps.py::test_an_archive_is_no_trap",
            "crawl/test_near.py::test_pages_that_are_gone_and_say_so_with_a_clock",
        ),
    ),
    Wish(
        "katana#742, #658, #1106",
        "memory stays within bounds, however long the list",
        (
            "report/test_streams.py::test_memory_does_not_grow_with_the_answer",
            "hostile/test_mixture.py::test_a_hundred_thousand_pages",
        ),
    ),
    Wish(
        "browsertrix-crawler#242, browsertrix#2035, grab-site#206",
        "stop before the disk is full, keep what is there, go on later",
        ("crawl/test_disk.py::test_a_floor_stops_a_crawl", "crawl/test_disk.py::test_a_full_disk"),
    ),
    Wish(
        "browsertrix-crawler#290, #344, #776",
        "a limit of size for each run, and nothing collected is ever deleted",
        ("crawl/test_limits.py::test_bytes_are_limited", "crawl/test_limits.py::test_pages_of_a_host_are_limited"),
    ),
    Wish(
        "scrapy#105, #3246",
        "say which rule dropped a link",
        (
            "cli/test_questions.py::test_everything_refused_is_listed",
            "cli/test_questions.py::test_why_an_address_failed_or_was_refused",
            "crawl/test_rehearsal.py::test_what_is_told_is_what_happens",
        ),
    ),
    Wish(
        "ArchiveBox#781, #1506, #601, crawl4ai#1260",
        "no “database is locked” where two commands use one file",
        (
            "store/test_sharing.py::test_writers_take_turns",
            "crawl/test_truth.py::test_two_crawls_share_a_database",
            "hostile/test_machine.py::test_a_lock_that_is_let_go_costs_nothing",
        ),
    ),
    Wish(
        "browsertrix#1792, CeWL#71, minet#692",
        "see that it moves: the queue, the rate, when it may end",
        ("cli/test_progress.py::test_a_plain_line_tells_everything", "cli/test_terminal.py::test_a_crawl_is_drawn"),
    ),
    Wish(
        "grab-site#17, #70",
        "choose whether sitemaps are followed; large media are not read as pages",
        ("crawl/test_sitemaps.py::test_they_can_be_left", "fetch/test_client.py::test_what_is_no_page_is_not_read"),
    ),
    Wish(
        "Scrapling#437, crawlee-python#2065, stormcrawler#1042",
        "a robots.txt that cannot be had does not open the site for the whole run",
        (
            "crawl/test_crawl.py::test_robots_that_fails_closes_the_host",
            "fetch/test_ruling.py::test_fetch_semantics",
            "fetch/test_ruling.py::test_an_older_answer_stands_in",
        ),
    ),
)

PROMISES = (
    Wish(
        "RFC 9309",
        "robots.txt, in full",
        ("fetch/test_robots.py::test_vectors", "fetch/test_robots.py::test_any_bytes_can_be_read"),
    ),
    Wish(
        "RFC 9309",
        "a verdict is told with its line",
        ("fetch/test_cli_robots.py::test_the_verdict_and_the_line_that_decided",),
    ),
    Wish(
        "pages",
        "meta robots, X-Robots-Tag and rel are obeyed",
        (
            "crawl/test_again.py::test_pages_say_what_is_not_followed",
            "crawl/test_again.py::test_they_can_be_ignored",
            "crawl/test_again.py::test_noindex_keeps_media_out",
            "fetch/test_robots.py::test_meta_robots",
        ),
    ),
    Wish(
        "owners",
        "never two requests at once, gaps of the delay",
        (
            "crawl/test_crawl.py::test_the_delay_is_kept",
            "fetch/test_connections.py::test_a_host_has_one_request_at_a_time",
            "fetch/test_server.py::test_overlapping_connections_are_seen",
        ),
    ),
    Wish("owners", "a delay of 0 waits for nothing", ("fetch/test_pace.py::test_zero_switches_all_waiting_off",)),
    Wish(
        "night",
        "failures by class, tried again where they may heal",
        (
            "crawl/test_crawl.py::test_errors_have_their_class_and_heal_where_they_may",
            "crawl/test_parts.py::test_only_what_may_heal_is_tried_again",
        ),
    ),
    Wish(
        "paper 2",
        "seeds by hand, by search, by submission",
        (
            "cli/test_seeds_command.py::test_by_hand",
            "cli/test_seeds_command.py::test_by_search",
            "cli/test_seeds_command.py::test_by_submission",
            "cli/test_seeds_command.py::test_a_check_is_shown_before_the_question",
            "crawl/test_candidates.py::test_who_asks_for_too_much_is_left_alone",
        ),
    ),
    Wish(
        "sites",
        "sitemaps and feeds: index, gzip, lastmod, videos",
        (
            "crawl/test_sitemaps.py::test_robots_names_sitemaps",
            "crawl/test_sitemaps.py::test_feeds_of_pages_are_read",
            "crawl/test_sitemaps.py::test_a_video_sitemap_tells_of_its_pages",
            "crawl/test_sitemaps.py::test_a_sitemap_made_anew_each_time_doubles_nothing",
        ),
    ),
    Wish(
        "night",
        "what is due, what is new, what is gone",
        (
            "crawl/test_again.py::test_a_night_later_all_is_due",
            "crawl/test_again.py::test_never_goes_on_only",
            "cli/test_questions.py::test_what_is_new_and_what_is_gone",
            "cli/test_questions.py::test_runs_tell_why_they_ended",
        ),
    ),
    Wish(
        "sites",
        "near copies, and no page that is none",
        (
            "page/test_alike.py::test_real_pages_are_not_merged",
            "page/test_alike.py::test_unlike_pages_are_not_near",
            "store/test_likeness.py::test_near_pages_are_found_among_many",
        ),
    ),
    Wish(
        "night",
        "limits: pages, time, bytes, pages of a host, disk",
        (
            "crawl/test_crawl.py::test_max_pages_is_exact",
            "crawl/test_crawl.py::test_max_time_ends_a_crawl",
            "crawl/test_limits.py::test_bytes_are_limited",
            "crawl/test_limits.py::test_pages_of_a_host_are_limited",
            "crawl/test_limits.py::test_the_limits_hold_for_all_workers_together",
            "crawl/test_disk.py::test_a_floor_stops_a_crawl",
        ),
    ),
    Wish(
        "night",
        "a rehearsal that asks nobody",
        ("crawl/test_rehearsal.py::test_the_command_asks_nobody_and_leaves_nothing",),
    ),
    Wish(
        "paper 3",
        "breadth first or depth first",
        ("crawl/test_crawl.py::test_breadth_first", "crawl/test_crawl.py::test_depth_first"),
    ),
    Wish(
        "night",
        "logs that stay small, as text or JSON lines",
        ("cli/test_log.py::test_files_stay_small_and_few", "cli/test_log.py::test_json_lines_are_json"),
    ),
    Wish(
        "night",
        "a clock that was wrong stops nothing",
        (
            "crawl/test_restart.py::test_a_clock_that_was_wrong_once",
            "hostile/test_machine.py::test_a_clock_that_is_set",
        ),
    ),
    Wish(
        "members",
        "cookies, logins, headers and proxies, each to its own host",
        (
            "fetch/test_passes.py::test_over_the_wire",
            "fetch/test_passes.py::test_netrc",
            "fetch/test_passes.py::test_files_that_are_none",
            "fetch/test_cookies.py::test_no_other_origin_sees_them",
            "fetch/test_proxies.py::test_the_environment_s_proxies",
            "fetch/test_tls.py::test_a_certificate_by_nobody_is_refused",
        ),
    ),
)


@functools.cache
def functions(name: str) -> frozenset[str]:
    """Return the tests that a file below ``tests`` has."""
    tree = ast.parse((ROOT / "tests" / name).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("wish", [*WISHES, *PROMISES], ids=lambda wish: wish.what[:40])
def test_each_has_its_proofs(wish: Wish) -> None:
    """Every test that is named as a proof is there."""
    assert wish.proofs
    for proof in wish.proofs:
        file, _, test = proof.partition("::")
        assert test in functions(file), proof


def test_each_wish_is_one() -> None:
    """None of the two dozen wishes that were gathered is missing, and none stands twice."""
    assert len({wish.what for wish in WISHES}) == 24
