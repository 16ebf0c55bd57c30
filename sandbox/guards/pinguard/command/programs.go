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
var shells = map[string]bool{
	"sh": true, "bash": true, "zsh": true, "dash": true, "ksh": true, "ash": true, "fish": true, "mksh": true,
}

// interpreter says where a program finds the code that it runs.
type interpreter struct {
	code      string // options before code
	module    string // the option before the name of a module
	codeFirst bool   // the first operand is code
}

var interpreters = map[string]interpreter{
	"python": {code: "-c", module: "-m"}, "node": {code: "-e -p --eval --print"}, "ruby": {code: "-e"}, "perl": {code: "-e -E"}, "php": {code: "-r"}, "lua": {code: "-e"},
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
var alwaysExact = map[string]bool{
	"cd": true, "pushd": true, "source": true, ".": true, "alias": true, "trap": true, "ssh": true, "su": true,
	"runuser": true, "chroot": true, "nsenter": true, "parallel": true, "watch": true, "cp": true, "mv": true, "ln": true,
	"install": true, "rsync": true, "scp": true, "sftp": true, "tee": true, "dd": true, "truncate": true, "shred": true,
	"rm": true, "rmdir": true, "unlink": true, "kill": true, "pkill": true, "killall": true, "chmod": true, "chown": true,
	"chgrp": true, "mkfs": true, "mount": true, "umount": true, "crontab": true, "at": true, "nc": true, "ncat": true,
	"socat": true, "telnet": true, "reboot": true, "shutdown": true, "busybox": true, "tmux": true, "screen": true,
	"expect": true, "iptables": true, "useradd": true, "userdel": true, "passwd": true, "visudo": true,
	"powershell": true, "pwsh": true, "cmd": true,
}

// dangerous are words that, as a program or a subcommand, destroy, install, publish
// or stop something.
var dangerous = map[string]bool{
	"delete": true, "del": true, "destroy": true, "rm": true, "rmi": true, "rb": true, "remove": true, "uninstall": true,
	"purge": true, "prune": true, "drop": true, "kill": true, "stop": true, "terminate": true, "install": true, "i": true,
	"add": true, "publish": true, "unpublish": true, "apply": true, "drain": true, "yank": true, "erase": true, "wipe": true,
	"reset": true, "clean": true, "config": true, "filter-branch": true, "cp": true, "mv": true, "sync": true, "set": true, "revoke": true,
	"format": true, "exec": true, "eval": true, "force": true, "overwrite": true, "yes": true,
}

// harmless are exceptions to them.
var harmless = map[string]bool{"git add": true}

// agreeing are subcommands whose operands, where the model gives any, must be the
// step's: they say what is sent where, or what the folder is changed to.
var agreeing = map[string]bool{
	"git push": true, "git pull": true, "git fetch": true, "git clone": true, "git checkout": true, "git switch": true,
	"git merge": true, "git rebase": true, "git revert": true, "git cherry-pick": true, "git restore": true, "git branch": true,
	"git tag": true, "docker push": true, "docker pull": true, "kubectl scale": true, "kubectl create": true,
	"helm upgrade": true, "helm rollback": true, "gh pr merge": true, "gh pr close": true, "systemctl restart": true,
	"systemctl start": true, "psql": true, "mysql": true, "kubectl rollout restart": true, "kubectl rollout undo": true,
}

// sameProgram are other names of one program.
var sameProgram = map[string]string{
	"python3": "python", "python2": "python", "pip3": "pip", "nodejs": "node", "gawk": "awk", "mawk": "awk", "nawk": "awk",
	"gsed": "sed", "gtar": "tar", "bsdtar": "tar", "egrep": "grep", "fgrep": "grep",
}

// spec says how a program's words are to be read.
type spec struct {
	levels     int    // words that name the subcommand
	guess      bool   // the program is not known: a word that looks like a subcommand is one
	valued     string // options that take the next word
	effects    string // options that change what is done
	strictOn   string // options with which every word matters
	signs      string // signs at the start of an operand that change what is done
	longDash   bool   // long options have one dash
	sql        string // options before a statement
	sqlOperand bool   // an operand after the first is a statement
}

// every is more words than a command has.
const every = 1 << 20

var programs = map[string]spec{
	"git": {levels: 1, valued: "-C -c --git-dir --work-tree --namespace --exec-path --config-env", signs: "+:",
		effects: "-f --force --force-with-lease -d -D --delete --mirror --prune --all --tags --hard --merge --keep -m -M -B " +
			"--amend --no-verify --orphan --abort --continue --skip --set --unset --rewrite --interactive -i",
		strictOn: "--upload-pack --receive-pack --exec -x --output --ext-diff --open-files-in-pager --remote --textconv --filter --config -c"},
	"npm":    {levels: 1, valued: "--prefix -w --workspace --registry", effects: "-g --global --force --dry-run"},
	"pnpm":   {levels: 1, valued: "-C --dir --filter -F", effects: "-g --global --force"},
	"yarn":   {levels: 1, valued: "--cwd", effects: "--force"},
	"npx":    {levels: 1, valued: "-p --package -c --call"},
	"bunx":   {levels: 1},
	"uvx":    {levels: 1, valued: "--from --with --python"},
	"uv":     {levels: 1, valued: "--project --directory --python"},
	"pip":    {levels: 1, effects: "--upgrade -U --force-reinstall"},
	"docker": {levels: 1, valued: "-H --host --context -c --config -l --log-level", effects: "-f --force -v --volumes --rm --privileged"},
	"podman": {levels: 1, valued: "--connection --url", effects: "-f --force --privileged"},
	"kubectl": {levels: 1, valued: "-n --namespace --context --cluster --kubeconfig -s --server --as --user",
		effects: "--force --all --cascade --dry-run -A --all-namespaces", strictOn: "--raw --token"},
	"helm":      {levels: 1, valued: "-n --namespace --kube-context --kubeconfig", effects: "--force --dry-run --reset-values", strictOn: "--post-renderer"},
	"terraform": {levels: 1, effects: "-destroy -auto-approve -replace -target -refresh-only", longDash: true},
	"go":        {levels: 1, valued: "-C", longDash: true, strictOn: "-exec -toolexec -vettool", effects: "-w -u -o"},
	"cargo":     {levels: 1, effects: "--force --fix --allow-dirty", strictOn: "--config"},
	"gh":        {levels: 2, valued: "-R --repo --hostname", strictOn: "-X --method -f -F --field --raw-field --input", effects: "--admin --delete-branch -d --force"},
	"aws":       {levels: 2, valued: "--profile --region --endpoint-url --output", strictOn: "--cli-input-json --payload", effects: "--force --recursive --delete"},
	"gcloud":    {levels: 3, valued: "--project --account --configuration", effects: "--quiet -q"},
	"az":        {levels: 3, valued: "--subscription", effects: "--yes -y"},
	"systemctl": {levels: 1, valued: "-H --host -M --machine", effects: "--now --force -f"},
	"make":      {levels: every, valued: "-C -f -j --directory --file"}, "just": {levels: every}, "task": {levels: every}, "ninja": {levels: every},
	"gradle": {levels: every}, "mvn": {levels: every}, "rake": {levels: every}, "tox": {levels: every}, "nox": {levels: every},
	"find": {longDash: true, strictOn: "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls"},
	"fd":   {valued: "-e -t -d -E", strictOn: "-x -X --exec --exec-batch"},
	"curl": {valued: "-H -A -e -u -m -b -w --header --user-agent --referer --user --max-time --cookie --write-out",
		effects: "-d --data --data-raw --data-binary --data-urlencode --json -F --form -u --user -k --insecure -I --head -G --get",
		strictOn: "-X --request -T --upload-file -K --config -o --output -O --remote-name -x --proxy --resolve --connect-to " +
			"--unix-socket -c --cookie-jar -Q --quote --engine --output-dir"},
	"wget": {effects: "--post-data -r --recursive", strictOn: "-O --output-document --post-file --method -e --execute -P -i --input-file " +
		"--use-askpass --config --body-data --body-file"},
	"tar": {levels: every}, "deno": {levels: every}, "bun": {levels: every}, "zip": {levels: every}, "unzip": {levels: every},
	"sort": {strictOn: "-o --output --compress-program"}, "rg": {strictOn: "--pre --hostname-bin"},
	"man": {strictOn: "-P --pager -H --html"}, "less": {strictOn: "-o -O --log-file"},
	"tsc":    {effects: "--build -b --watch"},
	"eslint": {effects: "--fix", strictOn: "-c --config --rulesdir -f --format --resolve-plugins-relative-to"}, "prettier": {effects: "-w --write", strictOn: "--config --plugin"},
	"ruff": {levels: 1, effects: "--fix"}, "black": {effects: "--check"}, "pytest": {strictOn: "-p -c --rootdir --confcutdir"},
	"jest": {effects: "-u --updateSnapshot", strictOn: "-c --config"}, "vitest": {levels: 1, guess: true, effects: "-u --update"},
	"psql":    {valued: "-h -U -d -p -f -c -v -o -P -F -R -T -L --command --username --port", sql: "-c --command", strictOn: "-h --host -d --dbname -f --file -o --output -L -v --variable"},
	"mysql":   {valued: "-h -u -D -P -e -S --execute --user --port", sql: "-e --execute", strictOn: "-h --host -D --database --tee --pager --init-command"},
	"sqlite3": {levels: 1, strictOn: "-init -cmd", longDash: true, sqlOperand: true}, "duckdb": {levels: 1, valued: "-c", sql: "-c", sqlOperand: true},
	"sqlcmd": {valued: "-Q -q -U -P", sql: "-Q -q", strictOn: "-S -d -i -o"}, "bq": {levels: 1}, "redis-cli": {levels: 1, valued: "-h -p -n -a"}, "mongosh": {levels: every},
}

// plainPrograms only read, or change nothing that their operands decide on. They
// have no subcommand.
const plainPrograms = " ls cat head tail wc grep rg ag echo printf pwd true false test [ stat file du df which whereis type basename " +
	"dirname realpath readlink sort uniq cut tr diff cmp comm paste fold fmt column nl od xxd hexdump strings md5sum sha1sum " +
	"sha256sum sha512sum cksum date cal uptime uname whoami id groups hostname ps top free env printenv sleep seq tree less more " +
	"jq yq tsc eslint prettier jest vitest pytest mypy ruff black flake8 pylint mocha rspec ctest mkdir touch ping dig host " +
	"nslookup traceroute man help history jobs wait bg fg popd dirs ulimit umask exit return read unset shift "

func unknownProgram(name string) spec {
	if isPlainProgram(name) {
		return spec{}
	}
	return spec{levels: 1, guess: true}
}

// deeper are subcommands that are a group: the next word names what is done.
var deeper = map[string]int{
	"git remote": 1, "git stash": 1, "git submodule": 1, "git worktree": 1, "git bisect": 1, "git notes": 1, "git reflog": 1,
	"git lfs": 1, "docker compose": 1, "docker container": 1, "docker image": 1, "docker volume": 1,
	"docker network": 1, "docker system": 1, "docker builder": 1, "docker buildx": 1, "docker context": 1, "podman container": 1,
	"podman image": 1, "kubectl rollout": 1, "kubectl auth": 1, "kubectl set": 1, "helm repo": 1,
	"helm plugin": 1, "terraform state": 1, "terraform workspace": 1, "go mod": 1, "go tool": 1, "go work": 1, "pip cache": 1, "npm run": 1, "npm run-script": 1, "npm cache": 1, "npm access": 1, "npm owner": 1,
	"pnpm run": 1, "yarn run": 1, "yarn workspace": 2, "uv pip": 1, "uv tool": 1, "uv cache": 1, "cargo +nightly": 1,
	"npm exec": 0, "systemctl --user": 1,
}

func isPlainProgram(name string) bool { return strings.Contains(plainPrograms, " "+name+" ") }
