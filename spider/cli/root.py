"""The root of the command line: the options before the command, and the table of commands.

A command's module is imported when it is used and not before, so that ``spider --help`` and a typing
error answer at once; that is why the table repeats each command's first sentence.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import click
from click.shell_completion import CompletionItem

from spider import __version__, settings
from spider.cli import config as configuration
from spider.cli.config import Config, check_names, defaults, name_variables, nearest
from spider.cli.ending import PipeClosedError, ended, expected, prepare_streams, say, visible_trace
from spider.cli.formatter import HelpContext
from spider.cli.options import DATABASE, Globals, key

__all__ = ["COMMANDS", "Command", "main"]


@dataclass(frozen=True, slots=True)
class Command:
    """One command: its name, the heading it stands under, and the first sentence of its help."""

    name: str
    heading: str
    help: str


COMMANDS = (
    Command("crawl", "Crawl", "Visit seeds and record the media of their pages."),
    Command("seeds", "Crawl", "Keep the list of seeds: add, search, confirm, disable, remove."),
    Command("retry", "Crawl", "Let failed links wait for another try."),
    Command("forget", "Crawl", "Drop what is known of a host or address, for good."),
    Command("check", "Crawl", "Ask whether the media found are still there."),
    Command("report", "Ask", "Show the pages with their media."),
    Command("tree", "Ask", "Show the links as a tree, from each seed."),
    Command("status", "Ask", "Count links by state, and pages with media."),
    Command("errors", "Ask", "List the links that failed, and why."),
    Command("skipped", "Ask", "List the addresses that were refused, and by which rule."),
    Command("why", "Ask", "Tell why an address was visited, or was not."),
    Command("runs", "Ask", "List the crawls made, the newest first."),
    Command("workers", "Ask", "List the processes at work on the database, on all machines."),
    Command("export", "Ask", "Write what was found for other programs."),
    Command("browse", "Ask", "Browse the database with Datasette."),
    Command("db", "Tools", "Look after the database: check, backup, copy, vacuum, upgrade."),
    Command("url", "Tools", "Write addresses as a browser would."),
    Command("links", "Tools", "List the links and media of one page."),
    Command("map", "Tools", "List a site's own addresses."),
    Command("ajax", "Tools", "Explore an application's states with a browser."),
    Command("fingerprint", "Tools", "Tell which Ajax libraries a page uses."),
    Command("robots", "Tools", "Tell what a site's robots.txt allows."),
    Command("doctor", "Tools", "Tell what is here, what is missing, and what brings it."),
    Command("demo", "Tools", "Crawl the bundled sample site and show its report."),
)


def _imported(name: str) -> ModuleType:
    """Import a command with all that it needs.

    Nothing of that is ever rubbish: to look through it for some takes a quarter of the time of a start.
    """
    if name in sys.modules:
        return sys.modules[name]
    gc.disable()
    try:
        return importlib.import_module(name)
    finally:
        gc.freeze()
        gc.enable()


class Commands(click.Group):
    """A group that imports a command when it is used, lists all by heading, and ends every command alike."""

    context_class = HelpContext

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  # click's signature
        """Return the names in the table's order."""
        return [command.name for command in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002  # click's signature
        """Import a command; None when there is none of that name."""
        if cmd_name not in {command.name for command in COMMANDS}:
            return None
        command = _imported(f"spider.cli.{cmd_name}").command
        if not isinstance(command, click.Command):
            msg = f"spider.cli.{cmd_name}.command is no command"
            raise TypeError(msg)
        name_variables(command)
        command.context_class = HelpContext
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments begin with; a wrong name is met with the nearest right one."""
        name = args[0]
        if not name.startswith("-") and name not in self.list_commands(ctx):
            msg = f"no such command: {name!r}{nearest(name, self.list_commands(ctx))}"
            raise click.UsageError(msg, ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002  # click's signature
        """Write the commands under their headings, from the table alone."""
        width = max(len(command.name) for command in COMMANDS)
        for heading in dict.fromkeys(command.heading for command in COMMANDS):
            with formatter.section(heading):
                formatter.write_dl([(c.name.ljust(width), c.help) for c in COMMANDS if c.heading == heading])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete the name of a command from the table alone, or an option."""
        named = [CompletionItem(one.name, help=one.help) for one in COMMANDS if one.name.startswith(incomplete)]
        return [*named, *click.Command.shell_complete(self, ctx, incomplete)]

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401  # click's signature
        """Invoke the command; a closed pipe is told apart here, before click ends on it with 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise PipeClosedError from error
        except click.NoSuchOption as error:
            raise _misplaced(error, self) from error
        except Exception as error:
            if ctx.params.get("verbose") and not expected(error):
                say(visible_trace(error))
            raise

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,  # noqa: ARG002  # ``python -m spider`` is ``spider`` too
        complete_var: str | None = None,
        standalone_mode: bool = True,  # noqa: FBT001, FBT002
        windows_expand_args: bool = True,  # noqa: FBT001, FBT002
        **extra: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Run the program and exit with its code."""

        def work() -> object:
            return super(Commands, self).main(
                args, "spider", complete_var, standalone_mode=False, windows_expand_args=windows_expand_args, **extra
            )

        if not standalone_mode:
            return work()
        prepare_streams()
        sys.exit(ended(work))


def _misplaced(error: click.NoSuchOption, root: click.Command) -> click.UsageError:
    """Return the error of an unknown option, with a hint where it is one of the root's."""
    for option in root.params:
        if error.option_name in option.opts and error.ctx is not None and error.ctx.parent is not None:
            msg = f"{error.option_name} goes before the command: spider {error.option_name} … {error.ctx.info_name}"
            return click.UsageError(msg, error.ctx)
    near = nearest(error.option_name, error.possibilities or ())
    return click.UsageError(f"no such option: {error.option_name}{near}", error.ctx)


def _configure(ctx: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    """Read the TOML file before the other options ask it for their values."""
    source = ctx.get_parameter_source("config")
    named_by = {"COMMANDLINE": "--config", "ENVIRONMENT": "SPIDER_CONFIG"}.get(source.name if source else "")
    config = configuration.read_config(value or configuration.DEFAULT_CONFIG, named_by=named_by)
    ctx.meta[configuration.__name__] = config
    ctx.default_map = defaults(config, None, ctx.command)
    return value


def _all_commands(ctx: click.Context) -> Mapping[str, click.Command]:
    """Import every command there is."""
    group = ctx.command
    found = (
        {name: group.get_command(ctx, name) for name in group.list_commands(ctx)} if isinstance(group, Commands) else {}
    )
    return {name: command for name, command in found.items() if command is not None}


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.option(
    "--config",
    metavar="FILE",
    envvar="SPIDER_CONFIG",
    is_eager=True,
    expose_value=False,
    callback=_configure,
    help=f"Read options from this TOML file.  [default: {configuration.DEFAULT_CONFIG}, if there is one]",
)
@click.option(
    "--db",
    metavar="PATH|URL",
    default=DATABASE,
    show_default=True,
    help="The database: an SQLite file, or an SQLAlchemy URL.",
)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but errors.")
@click.option("-v", "--verbose", count=True, help="Say more: each link, and where an internal error came from.")
@click.version_option(__version__, prog_name="multimedia-spider", message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context, db: str, quiet: bool, verbose: int) -> None:  # noqa: FBT001  # click gives values
    """Find every page of a site that holds video, audio or Flash.

    "spider crawl URL" visits a site politely and keeps what it finds in a
    database; "spider report" shows it.  "spider demo" does both with a sample
    site, here, in seconds.

    Every option may also be given by a variable (--max-pages is
    SPIDER_MAX_PAGES) or a line of the TOML file (max-pages = 100).
    """
    config = ctx.meta.get(configuration.__name__)
    name = ctx.invoked_subcommand
    command = main.get_command(ctx, name) if name else None
    if isinstance(config, Config) and config.values and command is not None:
        known = {key(option) for option in (*main.params, *command.params) if isinstance(option, click.Option)}
        check_names(config, known | {setting.name for setting in settings.SETTINGS}, lambda: _all_commands(ctx))
        ctx.default_map = {str(name): defaults(config, name, command)}
    ctx.obj = Globals(db=db, quiet=quiet, verbose=verbose)


name_variables(main)
