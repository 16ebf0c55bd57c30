package command

// spec says how a program's words are to be read.
type spec struct {
	levels     int    // words that name the subcommand
	groups     string // subcommands after which one more word names what is done
	runs       string // subcommands that run another program, described in runners
	agrees     string // subcommands whose operands, where the model gives any, must be the step's
	exact      string // subcommands of which every word counts, besides the dangerous ones
	agreesAll  bool   // the same for the operands of every subcommand
	guess      bool   // the program is not known: a word that looks like a subcommand is one
	valued     string // options that take the next word
	effects    string // options that change what is done
	strictOn   string // options with which every word matters
	context    string // options whose value says where the program acts
	urls       bool   // its operands are URLs, with a scheme or without
	signs      string // signs at the start of an operand that change what is done
	longDash   bool   // long options have one dash
	runsIt     bool   // the program itself runs another one
	sql        string // options before a statement
	readsInput bool   // it runs what it reads
	sqlOperand bool   // an operand after the first is a statement
}

// every is more words than a command has.
const every = 1 << 20

var programs = map[string]spec{
	"git": {levels: 1, groups: "remote stash submodule worktree bisect notes reflog lfs",
		exact:  "run foreach update-ref symbolic-ref init gc replace bundle fast-import daemon credential am",
		agrees: "push pull fetch clone checkout switch merge rebase revert cherry-pick restore branch tag",
		valued: "-C -c --git-dir --work-tree --namespace --exec-path --config-env",
		effects: "-f --force --force-with-lease -d -D --delete --mirror --prune --all --tags --hard --merge --keep -m " +
			"-M -B --amend --no-verify --orphan --abort --continue --skip --set --unset --rewrite --interactive -i",
		strictOn: "--upload-pack --receive-pack --exec -x --output --ext-diff --open-files-in-pager --remote --textconv " +
			"--filter --config -c -o -O --extcmd", signs: "+:"},
	"npm": {levels: 1, groups: "run run-script cache access owner token team dist-tag org hook profile pkg",
		runs: "run run-script exec x", exact: "version deprecate", valued: "--prefix -w --workspace --registry",
		context: "--prefix -w --workspace --registry", effects: "-g --global --force --dry-run",
		strictOn: "--script-shell --node-options --userconfig --globalconfig --ignore-scripts"},
	"pnpm": {levels: 1, groups: "run", runs: "run exec dlx", valued: "-C --dir --filter -F",
		context: "-C --dir --filter -F", effects: "-g --global --force"},
	"yarn": {levels: 1, groups: "run workspace", runs: "run exec dlx", valued: "--cwd", effects: "--force"},
	"npx":  {levels: 1, runsIt: true, valued: "-p --package -c --call"}, "bunx": {levels: 1, runsIt: true},
	"pipx": {levels: 1, runs: "run"}, "poetry": {levels: 1, runs: "run"}, "pipenv": {levels: 1, runs: "run"},
	"rye": {levels: 1, runs: "run"}, "hatch": {levels: 1, runs: "run"}, "bundle": {levels: 1, runs: "exec"},
	"pnpx": {levels: 1, runsIt: true}, "uvx": {levels: 1, runsIt: true, valued: "--from --with --python"},
	"uv":  {levels: 1, groups: "pip tool cache", runs: "run", valued: "--project --directory --python"},
	"pip": {levels: 1, groups: "cache", effects: "--upgrade -U --force-reinstall"},
	"docker": {levels: 1,
		groups: "compose container image volume network system builder buildx context plugin swarm node stack secret " +
			"config service trust", runs: "run exec", exact: "run exec",
		agrees: "push pull start restart pause rename tag update build load import",
		valued: "-H --host --context -c --config -l --log-level", context: "-H --host --context -p --project-name",
		effects: "-f --force -v --volumes --rm --privileged"},
	"podman": {levels: 1, groups: "container image", runs: "run exec", valued: "--connection --url",
		effects: "-f --force --privileged"},
	"kubectl": {levels: 1, groups: "rollout auth", runs: "exec run",
		agrees: "scale create restart undo pause resume patch replace edit label annotate cordon uncordon taint expose " +
			"autoscale debug attach port-forward",
		valued:  "-n --namespace --context --cluster --kubeconfig -s --server --as --user",
		context: "-n --namespace --context --cluster --kubeconfig -s --server",
		effects: "--force --all --cascade --dry-run -A --all-namespaces", strictOn: "--raw --token"},
	"helm": {levels: 1, groups: "repo plugin", agrees: "upgrade rollback",
		valued: "-n --namespace --kube-context --kubeconfig", context: "-n --namespace --kube-context --kubeconfig",
		effects: "--force --dry-run --reset-values", strictOn: "--post-renderer"},
	"terraform": {levels: 1, groups: "state workspace", context: "-chdir -state",
		effects: "-destroy -auto-approve -replace -target -refresh-only", longDash: true},
	"go": {levels: 1, groups: "mod tool work", runs: "run", agrees: "get generate", valued: "-C", effects: "-w -u -o",
		strictOn: "-exec -toolexec -vettool -ldflags -gcflags -asmflags -overlay -modfile", longDash: true},
	"cargo": {levels: 1, runs: "run", context: "--manifest-path -p", effects: "--force --fix --allow-dirty",
		strictOn: "--config"},
	"gh": {guess: true, levels: 3, agrees: "merge close reopen review ready checkout edit",
		valued: "-R --repo --hostname", context: "-R --repo --hostname", effects: "--admin --delete-branch -d --force",
		strictOn: "-X --method -f -F --field --raw-field --input"},
	"aws": {levels: 2, valued: "--profile --region --endpoint-url --output", context: "--profile --region --endpoint-url",
		effects: "--force --recursive --delete", strictOn: "--cli-input-json --payload"},
	"gcloud": {guess: true, levels: 6, valued: "--project --account --configuration",
		context: "--project --account --zone --region --cluster", effects: "--quiet -q"},
	"az": {guess: true, levels: 6, valued: "--subscription", context: "--subscription -g --resource-group",
		effects: "--yes -y"},
	"systemctl": {levels: 1, agrees: "start restart enable", valued: "-H --host -M --machine",
		effects: "--now --force -f"},
	"make": {levels: every, valued: "-C -f -j --directory --file"}, "just": {levels: every}, "task": {levels: every},
	"ninja": {levels: every}, "gradle": {levels: every}, "mvn": {levels: every}, "rake": {levels: every},
	"tox": {levels: every}, "nox": {levels: every},
	"find": {strictOn: "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls", longDash: true},
	"fd":   {valued: "-e -t -d -E", strictOn: "-x -X --exec --exec-batch"},
	"curl": {urls: true,
		valued: "-H -A -e -u -m -b -w --header --user-agent --referer --user --max-time --cookie --write-out",
		effects: "-d --data --data-raw --data-binary --data-urlencode --json -F --form -u --user -k --insecure -I " +
			"--head -G --get",
		strictOn: "-X --request -T --upload-file -K --config -o --output -O --remote-name -x --proxy --resolve " +
			"--connect-to --unix-socket -c --cookie-jar -Q --quote --engine --output-dir"},
	"wget": {urls: true, effects: "--post-data -r --recursive",
		strictOn: "-O --output-document --post-file --method -e --execute -P -i --input-file --use-askpass --config " +
			"--body-data --body-file"},
	"jobs": {strictOn: "-x"}, "history": {strictOn: "-c -d -w -a -r -n -s"}, "uniq": {agreesAll: true},
	"xxd": {agreesAll: true}, "date": {strictOn: "-s --set"}, "tree": {strictOn: "-o"}, "yq": {strictOn: "-i --inplace"},
	"mocha": {strictOn: "-r --require --config"}, "rspec": {strictOn: "-r --require -I"},
	"pylint": {strictOn: "--load-plugins --init-hook --rcfile"}, "flake8": {strictOn: "--config"},
	"mypy": {strictOn: "--config-file --install-types --python-executable"},
	"sort": {strictOn: "-o --output --compress-program"}, "rg": {strictOn: "--pre --hostname-bin"},
	"man": {strictOn: "-P --pager -H --html"}, "less": {strictOn: "-o -O --log-file", signs: "+"},
	"tsc":      {effects: "--build -b --watch"},
	"eslint":   {effects: "--fix", strictOn: "-c --config --rulesdir -f --format --resolve-plugins-relative-to"},
	"prettier": {effects: "-w --write", strictOn: "--config --plugin"}, "ruff": {levels: 1, effects: "--fix"},
	"black":  {effects: "--check"},
	"pytest": {strictOn: "-p -c -o --override-ini --rootdir --confcutdir --cov-config --pdbcls"},
	"jest":   {effects: "-u --updateSnapshot", strictOn: "-c --config"},
	"vitest": {guess: true, levels: 1, effects: "-u --update"},
	"psql": {agreesAll: true, valued: "-h -U -d -p -f -c -v -o -P -F -R -T -L --command --username --port",
		strictOn: "-h --host -d --dbname -f --file -o --output -L -v --variable", sql: "-c --command"},
	"mysql": {agreesAll: true, valued: "-h -u -D -P -e -S --execute --user --port",
		strictOn: "-h --host -D --database --tee --pager --init-command", sql: "-e --execute"},
	"sqlite3": {levels: 1, strictOn: "-init -cmd", longDash: true, sqlOperand: true},
	"duckdb":  {levels: 1, valued: "-c", sql: "-c", sqlOperand: true},
	"sqlcmd":  {valued: "-Q -q -U -P", strictOn: "-S -d -i -o", sql: "-Q -q"}, "bq": {levels: 1},
	"redis-cli": {levels: 1, valued: "-h -p -n -a", readsInput: true}, "mongosh": {levels: every},
}

// plainPrograms only read, or change nothing that their operands decide on. They
// have no subcommand.
var plainPrograms = setOf("ls cat head tail wc grep rg ag echo printf pwd true false test [ stat file du df which whereis type basename " +
	"dirname realpath readlink sort cut tr diff cmp comm paste fold fmt column nl od hexdump strings md5sum sha1sum " +
	"sha256sum sha512sum cksum date cal uptime uname whoami id groups ps top free env printenv sleep seq tree less more " +
	"jq yq tsc eslint prettier jest vitest pytest mypy ruff black flake8 pylint mocha rspec ctest mkdir touch ping dig host " +
	"nslookup traceroute man help history jobs wait bg fg popd dirs exit return read unset shift")

func specOf(name string) spec {
	s, known := programs[name]
	if !known && !plainPrograms[name] {
		return spec{levels: 1, guess: true, readsInput: true}
	}
	return s
}

// onlyReads tells of a program that no option makes do anything else.
func onlyReads(name string) bool {
	_, hasOptions := programs[name]
	return plainPrograms[name] && !hasOptions
}
