package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/bir-run/bir/cmd/internal/app"
	"github.com/bir-run/bir/control/off"
	"github.com/bir-run/bir/recorder/launch"
	"github.com/bir-run/bir/recorder/redact"
	"github.com/bir-run/bir/recorder/spool"
	"github.com/bir-run/bir/sandbox/guard"
)

// home says whether the data folder can be written and is nobody else's to read.
func home(_ context.Context, a *app.App) []Finding {
	if err := os.MkdirAll(a.Env.Home, 0o700); err != nil {
		return []Finding{bad("home", err, "set BIR_HOME to a folder that you may write")}
	}
	probe, err := os.CreateTemp(a.Env.Home, ".doctor-")
	if err != nil {
		return []Finding{bad("home", err, "set BIR_HOME to a folder that you may write")}
	}
	defer os.Remove(probe.Name())
	defer probe.Close()
	info, err := os.Stat(a.Env.Home)
	if err != nil {
		return []Finding{bad("home", err, "")}
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o077 != 0 {
		return []Finding{bad("home", fmt.Errorf("%s can be read by others (mode %o)", a.Env.Home, mode), "chmod 700 "+a.Env.Home)}
	}
	return []Finding{good("home", "%s", a.Env.Home)}
}

func binaries(_ context.Context, a *app.App) []Finding {
	for _, name := range []string{"bir-proxy", "bir-hooks", "bir-control", "bir-sandbox"} {
		if _, err := a.Binary(name); err != nil {
			return []Finding{bad("binaries", err, "build them into one folder with make")}
		}
	}
	return []Finding{good("binaries", "bir %s, beside bir-proxy, bir-hooks, bir-control and bir-sandbox", a.Version)}
}

func offSwitch(_ context.Context, a *app.App) []Finding {
	dir, err := os.Getwd()
	if err != nil {
		return []Finding{bad("recording", err, "")}
	}
	state, err := off.Read(a.Env.Home)
	switch {
	case err != nil:
		return []Finding{bad("recording", err, "delete "+off.Path(a.Env.Home))}
	case a.Env.Off:
		return []Finding{{Check: "recording", State: Note, Detail: "off: BIR_OFF=1", Fix: "unset BIR_OFF"}}
	case state.Off(dir):
		return []Finding{{Check: "recording", State: Note, Detail: "off in " + dir, Fix: "bir on"}}
	}
	return []Finding{good("recording", "on in %s", dir)}
}

func service(ctx context.Context, a *app.App) []Finding {
	c, err := a.Service(ctx)
	if err != nil {
		return []Finding{bad("service", err, "read "+filepath.Join(a.Env.Home, "logs", "service.log"))}
	}
	started := time.Now()
	h, err := c.Health(ctx)
	switch {
	case err != nil:
		return []Finding{bad("service", err, "bir down --service")}
	case h.Version != a.Version && a.Env.AuthURL == "":
		return []Finding{{Check: "service", State: Note, Fix: "bir down --service",
			Detail: fmt.Sprintf("%s is version %s, this is %s", c.BaseURL(), h.Version, a.Version)}}
	}
	return []Finding{good("service", "%s, process %d, answers in %.1f ms", c.BaseURL(), h.PID, ms(time.Since(started)))}
}

func spooled(_ context.Context, a *app.App) []Finding {
	waiting, err := spool.New(spool.Config{Dir: launch.SpoolDir(a.Env.Home, a.Env.AuthURL)}).Runs()
	switch {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return []Finding{bad("spool", err, "")}
	case len(waiting) > 0:
		return []Finding{{Check: "spool", State: Note, Detail: fmt.Sprintf("%d runs wait for the service", len(waiting)), Fix: "bir runs list sends them"}}
	}
	return []Finding{good("spool", "nothing waits")}
}

func guards(ctx context.Context, a *app.App) []Finding {
	host, err := a.Guards(ctx)
	if err != nil {
		return []Finding{bad("guards", err, "bir guard list")}
	}
	defer host.Close(context.WithoutCancel(ctx))
	var found []Finding
	for _, m := range host.Modules() {
		if m.State == guard.StateReady {
			found = append(found, good("guards", "%s (%s) %s", m.Name, m.Scope, m.SHA256[:12]))
			continue
		}
		fix := "bir guard remove " + m.Name
		if m.State == guard.StateChanged {
			fix = "bir guard trust " + m.Name + ", if you made the change"
		}
		found = append(found, bad("guards", fmt.Errorf("%s (%s) denies everything: %s", m.Name, m.Scope, m.Problem), fix))
	}
	return found
}

// redaction holds a sample with a secret in each place against what would be sent.
func redaction(context.Context, *app.App) []Finding {
	const secret = "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD"
	sample := `{"note":"Bearer ` + secret + `","api_key":"` + secret + `","inner":"{\"password\":\"` + secret + `\"}"}`
	if strings.Contains(string(redact.JSON([]byte(sample))), secret) || strings.Contains(redact.Text("token "+secret), secret) {
		return []Finding{bad("redaction", errors.New("a secret of the sample was left in"), "do not record; report this")}
	}
	return []Finding{good("redaction", "the secrets of a sample are taken out")}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
