package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// host is a scripted MCP client: what an agent does once, without a model.
type host struct{ session *mcp.ClientSession }

// connect starts command as the MCP server of a scripted host.
func connect(ctx context.Context, command *exec.Cmd) (*host, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "scripted-host", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		return nil, fmt.Errorf("connect to the server: %w", err)
	}
	return &host{session}, nil
}

func (h *host) call(ctx context.Context, tool string, args map[string]any) (string, error) {
	res, err := h.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		return "", fmt.Errorf("%s: %w", tool, err)
	}
	var text strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	if res.IsError {
		return "", fmt.Errorf("%s: %s", tool, text.String())
	}
	return text.String(), nil
}

// job does the work by hand: list the region, find the riskiest device, read its
// log and write its report. It returns the report.
func (h *host) job(ctx context.Context, region string) (string, error) {
	listing, err := h.call(ctx, "list_directory", map[string]any{"path": region})
	if err != nil {
		return "", err
	}
	if !strings.Contains(listing, "devices.json") {
		return "", fmt.Errorf("no devices.json in %s", region)
	}
	worst, err := h.worst(ctx, region)
	if err != nil {
		return "", err
	}
	var limits struct{ Alert float64 }
	if err := h.readJSON(ctx, filepath.Join(region, "thresholds.json"), &limits); err != nil {
		return "", err
	}
	log, err := h.call(ctx, "read_text_file", map[string]any{"path": filepath.Join(region, "logs", worst.ID+".log")})
	if err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSpace(log), "\n")
	text := report(filepath.Base(region), worst, limits.Alert, lines[len(lines)-1])
	_, err = h.call(ctx, "write_file", map[string]any{
		"path": filepath.Join(region, "reports", worst.ID+".md"), "content": text,
	})
	return text, err
}

func (h *host) worst(ctx context.Context, region string) (Device, error) {
	var list struct{ Devices []Device }
	if err := h.readJSON(ctx, filepath.Join(region, "devices.json"), &list); err != nil {
		return Device{}, err
	}
	var worst Device
	for _, d := range list.Devices {
		if d.Status == "active" && d.Risk > worst.Risk {
			worst = d
		}
	}
	if worst.ID == "" {
		return Device{}, errors.New("no active device")
	}
	return worst, nil
}

func (h *host) readJSON(ctx context.Context, path string, into any) error {
	text, err := h.call(ctx, "read_text_file", map[string]any{"path": path})
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(text), into)
}
