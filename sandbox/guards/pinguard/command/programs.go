package command

import "strings"

// wrapper is a program that runs the command after it.
type wrapper struct {
	valued   string // options that take the next word
	ignored  string // options that do not change what is done
	operands int    // of its own, before the command
	kept     bool   // it changes what is done, so both sides must have it
	assigns  bool   // takes A=b
}

const timeoutOptions = "-k -s --kill-after --signal"

var wrappers = map[string]wrapper{
	"time": {ignored: "-p -v"}, "nohup": {}, "command": {}, "builtin": {}, "unbuffer": {}, "chronic": {},
	"caffeinate": {ignored: "-i -s -d"},
	"nice":       {valued: "-n --adjustment", ignored: "-n --adjustment"},
	"ionice":     {valued: "-c -n --class --classdata", ignored: "-c -n --class --classdata"},
	"stdbuf":     {valued: "-i -o -e", ignored: "-i -o -e -oL -eL -i0 -o0 -e0 --input --output --error"},
	"timeout":    {valued: timeoutOptions, ignored: timeoutOptions + " --foreground --preserve-status -v", operands: 1},
	"gtimeout":   {valued: timeoutOptions, ignored: timeoutOptions, operands: 1},
	"env":        {valued: "-u --unset -C --chdir", assigns: true},
	"setsid":     {kept: true}, "exec": {valued: "-a", kept: true}, "doas": {valued: "-u -C", kept: true},
	"sudo":  {valued: "-u -g -h -p -C -r -t -U -T -D -R --user --group --host --prompt --chdir --chroot", kept: true, assigns: true},
	"xargs": {valued: "-n -I -P -L -d -s -E -a --max-args --max-procs --max-lines --delimiter --replace --arg-file", kept: true},
}

// shells take a script after -c, or a file.
var shells = setOf("sh bash zsh dash ksh ash fish mksh")

// interpreter says where a program finds the code that it runs.
type interpreter struct {
	code      string // options before code
	module    string // the option before the name of a module
	codeFirst bool   // the first operand is code
}

var interpreters = map[string]interpreter{
	"python": {code: "-c", module: "-m"}, "node": {code: "-e -p --eval --print"}, "ruby": {code: "-e"},
	"perl": {code: "-e -E"}, "php": {code: "-r"}, "lua": {code: "-e"},
	"Rscript": {code: "-e"}, "osascript": {code: "-e"}, "tsx": {code: "-e"}, "ts-node": {code: "-e"},
	"awk": {code: "--source", codeFirst: true}, "sed": {code: "-e --expression", codeFirst: true},
}

// runner is a program, with a subcommand or without, that runs another one.
type runner struct {
	valued  string // options that take the next word
	ignored string // options that change nothing
	name    bool   // what follows is a name of its own and not a program: npm run lint
	strict  bool   // what follows is compared to the word
}

var runners = map[string]runner{
	"npx": {valued: "-p --package", ignored: "-y --yes -q --quiet --no-install"}, "bunx": {}, "pnpx": {},
	"uvx":     {valued: "--from --with --python"},
	"npm run": {name: true, ignored: "-s --silent"}, "npm run-script": {name: true, ignored: "-s --silent"},
	"pnpm run": {name: true, ignored: "-s --silent"}, "yarn run": {name: true, ignored: "-s --silent"},
	"npm exec": {valued: "-p --package", ignored: "-y --yes"}, "npm x": {ignored: "-y --yes"},
	"pnpm exec": {}, "pnpm dlx": {}, "yarn exec": {}, "yarn dlx": {}, "pipx run": {}, "poetry run": {}, "pipenv run": {},
	"uv run":  {valued: "--with --python -p --project --directory --extra --group --env-file"},
	"rye run": {}, "hatch run": {}, "bundle exec": {}, "docker run": {strict: true}, "docker exec": {strict: true},
	"podman run": {strict: true}, "podman exec": {strict: true}, "kubectl exec": {strict: true}, "kubectl run": {strict: true},
	"go run": {strict: true}, "cargo run": {strict: true},
}

// alwaysExact are programs whose words all matter: they run what they are given,
// overwrite what they name, or decide where the rest happens.
var alwaysExact = setOf("cd pushd source . alias trap ssh su runuser chroot nsenter parallel watch cp mv ln install rsync scp sftp tee " +
	"dd truncate shred rm rmdir unlink kill pkill killall chmod chown chgrp mkfs mount umount crontab at nc ncat " +
	"socat telnet reboot shutdown busybox tmux screen expect iptables useradd userdel passwd visudo powershell pwsh " +
	"cmd tar zip unzip deno bun mongosh")

// dangerous are words that, as a program or a subcommand, destroy, install, publish
// or stop something.
var dangerous = setOf("delete del destroy rm rmi rb remove uninstall purge prune drop kill stop terminate install i add publish " +
	"unpublish apply drain yank erase wipe reset clean config filter-branch cp mv sync set revoke format exec eval " +
	"force overwrite yes filter send-email scale")

// sameProgram are other names of one program.
var sameProgram = map[string]string{
	"python3": "python", "python2": "python", "pip3": "pip", "nodejs": "node", "gawk": "awk", "mawk": "awk", "nawk": "awk",
	"gsed": "sed", "gtar": "tar", "bsdtar": "tar", "egrep": "grep", "fgrep": "grep",
}

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
