"""The players that sites embed: whose address it is, and whether it plays pictures or sound.

A literal table of hosts and paths.  An embedded player is a medium of its kind, whose own file is
known only to the player's scripts.
"""

from __future__ import annotations

import re
from typing import Final

from spider.model import MediaKind

__all__ = ["PLAYERS", "player"]

# name | kind | host ("." before a suffix: the domain and what is below it) | what its path begins with, in words;
# a path may go on into its query
_TABLE = """
youtube      video .youtube.com           /embed/ /v/ /e/ /p/ /live_chat
youtube      video .youtube-nocookie.com  /embed/ /v/ /e/
vimeo        video player.vimeo.com       /video/ /hubnut/ /external/
vimeo        video .vimeo.com             /moogaloop.swf /event/ /showcase/
dailymotion  video .dailymotion.com       /embed/ /swf/ /player /widget/
bilibili     video player.bilibili.com    /
bilibili     video .bilibili.com          /blackboard/player.html /blackboard/html5mobileplayer.html
bilibili     video static.hdslb.com       /miniloader.swf /play.swf
tencent      video v.qq.com               /iframe/ /txp/iframe /video/playview.html
tencent      video .video.qq.com          /tpout.swf /res/
tencent      video imgcache.qq.com        /tencentvideo
youku        video player.youku.com       /embed/ /player.php
tudou        video .tudou.com             /programs/view/html5embed.action /v/ /a/ /l/
iqiyi        video .iqiyi.com             /common/flashplayer/ /qzone/ /player/
sohu         video tv.sohu.com            /upload/static/share/ /s/sohuplayer/
sohu         video share.vrs.sohu.com     /
ku6          video player.ku6.com         /
soundcloud   audio .soundcloud.com        /player
spotify      audio open.spotify.com       /embed
spotify      audio embed.spotify.com      /
brightcove   video players.brightcove.net /
brightcove   video .brightcove.com        /services/viewer /services/link /services/mobile /services/player
jwplayer     video .jwplatform.com        /players/ /previews/
jwplayer     video .jwplayer.com          /players/ /previews/
kaltura      video .kaltura.com           /p/ /html5/ /index.php/kwidget /kwidget
wistia       video .wistia.net            /embed/
wistia       video .wistia.com            /embed/
vidyard      video play.vidyard.com       /
twitch       video player.twitch.tv       /
twitch       video .twitch.tv             /embed
facebook     video .facebook.com          /plugins/video.php /v/ /video/embed
tiktok       video .tiktok.com            /embed /player
twitter      video .twitter.com           /i/videos/ /i/cards/tfw/
archive      video archive.org            /embed/
rumble       video rumble.com             /embed/
odysee       video odysee.com             /$/embed/
streamable   video streamable.com         /e/ /o/ /s/
vk           video .vk.com                /video_ext.php
ok           video .ok.ru                 /videoembed/
rutube       video .rutube.ru             /play/embed/ /video/embed/ /embed/
nicovideo    video .nicovideo.jp          /watch/ /thumb_watch/
ted          video .ted.com               /talks/
metacafe     video .metacafe.com          /embed/ /fplayer/
viddler      video .viddler.com           /embed/ /player/ /simple/
blip         video .blip.tv               /play/ /players/ /scripts/flash/
ustream      video .ustream.tv            /embed/ /flash/
livestream   video .livestream.com        /accounts/ /embed
liveleak     video .liveleak.com          /ll_embed /e/
msn          video .video.msn.com         /embed/ /flash/ /player/
kinja        video .kinja.com             /ajax/inset/iframe?id=youtube /embed/inset/iframe?id=youtube
kinja        video .deadspin.com          /ajax/inset/iframe?id=youtube /embed/inset/iframe?id=youtube
kinja        video .gizmodo.com           /ajax/inset/iframe?id=youtube /embed/inset/iframe?id=youtube
kinja        video .avclub.com            /ajax/inset/iframe?id=youtube /embed/inset/iframe?id=youtube
googlevideo  video video.google.com       /googleplayer.swf
veoh         video .veoh.com              /static/swf/ /videodetails.swf /veohplayer.swf /swf/
sevenload    video .sevenload.com         /pl/ /widgets/
myvideo      video .myvideo.de            /movie/ /embed/
clipfish     video .clipfish.de           /embed_video/ /embed_image/ /cfng/
gfycat       video gfycat.com             /ifr/
imgur        video .imgur.com             /a/embed
loom         video .loom.com              /embed/
dtube        video emb.d.tube             /
cloudflare   video iframe.videodelivery.net /
cloudflare   video .cloudflarestream.com  /
bunny        video iframe.mediadelivery.net /embed/ /play/
ooyala       video player.ooyala.com      /
theplatform  video player.theplatform.com /p/
vevo         video .vevo.com              /embed /videoplayer/
cnn          video .cnn.com               /video/api/embed.html /cnn/.element/apps/cvp/
cnbc         video plus.cnbc.com          /rssvideosearch/
nbc          video .nbcnews.com           /widget/video-embed /id/
bloomberg    video .bloomberg.com         /multimedia/api/embed/
ardmediathek video .ardmediathek.de       /embed/
zdf          video ngp.zdf.de             /miniplayer/
mixcloud     audio .mixcloud.com          /widget/ /media/swf/
bandcamp     audio .bandcamp.com          /embeddedplayer
deezer       audio .deezer.com            /widget/ /plugins/player /embed
tidal        audio embed.tidal.com        /
apple        audio embed.music.apple.com  /
apple        audio embed.podcasts.apple.com /
audioboom    audio .audioboom.com         /embed /boos/ /posts/ /publishing/
audiomack    audio audiomack.com          /embed
anchor       audio .anchor.fm             /embed
spreaker     audio widget.spreaker.com    /player
podbean      audio .podbean.com           /player /media/player /
podigee      audio player.podigee-cdn.net /
podlove      audio .podlove.org           /
libsyn       audio .libsyn.com            /embed/ /
simplecast   audio player.simplecast.com  /
simplecast   audio embed.simplecast.com   /
transistor   audio share.transistor.fm    /e/
megaphone    audio .megaphone.fm          /
acast        audio embed.acast.com        /
omny         audio omny.fm                /
buzzsprout   audio .buzzsprout.com        /
captivate    audio player.captivate.fm    /
art19        audio art19.com              /shows/
iheart       audio .iheart.com            /
tunein       audio tunein.com             /embed/
ximalaya     audio .ximalaya.com          /thirdparty/ /swf/
netease      audio music.163.com          /outchain/ /style/swf/ /swf/
last.fm      audio .last.fm               /webclient/ /player
reverbnation audio .reverbnation.com      /widget_code/ /widgets/
"""


def _read(table: str) -> dict[str, list[tuple[str, MediaKind, tuple[str, ...]]]]:
    rows: dict[str, list[tuple[str, MediaKind, tuple[str, ...]]]] = {}
    for line in table.split("\n"):
        if line:
            name, kind, host, *paths = line.split()
            rows.setdefault(host, []).append((name, MediaKind(kind), tuple(paths)))
    return rows


PLAYERS: Final = _read(_TABLE)

# The path that sites give their own player (PeerTube and others).
_OWN = re.compile(r"(?:/[^/?]*+){0,3}?/(?:embed/videos?|videos?/embed|video-?embed)(?:[/?]|$)")

# An archive's copy of a page points into the archive: the player's own address follows.
_ARCHIVED = re.compile(r"https?://web\.archive\.org/web/[0-9]{1,14}[a-z_]{0,4}/(?=https?://)")


def player(address: str) -> tuple[MediaKind, str] | None:
    """Return kind and name of the player that an absolute http(s) address belongs to, None if to none."""
    kept = _ARCHIVED.match(address)
    authority, slash, rest = (address[kept.end() :] if kept else address).partition("://")[2].partition("/")
    host = authority.rpartition("@")[2].partition(":")[0]
    path = slash + rest.lower()
    for suffix in _suffixes(host):
        for name, kind, paths in PLAYERS.get(suffix, ()):
            if path.startswith(paths):
                return kind, name
    return (MediaKind.VIDEO, "embed") if _OWN.match(path) else None


def _suffixes(host: str) -> list[str]:
    """Name the rows that may know a host: itself, then each of its domains with a dot before it."""
    labels = host.split(".")
    return [host, *("." + ".".join(labels[n:]) for n in range(len(labels) - 1))]
