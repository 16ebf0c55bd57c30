// Package fileserver is a small MCP file server for machines without npm. It has
// the three tools that the demonstration uses, with the names and results of the
// npm filesystem server, and serves one folder. It is not part of the product.
package fileserver

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type pathArgs struct {
	Path string `json:"path"`
}

type writeArgs struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

type textResult struct {
	Content string `json:"content"`
}

// Run serves the folder dir on standard input and output until the host leaves.
func Run(ctx context.Context, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open folder: %w", err)
	}
	defer root.Close()
	files := folder{dir: dir, root: root}
	server := mcp.NewServer(&mcp.Implementation{Name: "bir-demo-files", Version: "1"}, nil)
	mcp.AddTool(server, &mcp.Tool{Name: "list_directory", Description: "List a folder"}, files.list)
	mcp.AddTool(server, &mcp.Tool{Name: "read_text_file", Description: "Read a text file"}, files.read)
	mcp.AddTool(server, &mcp.Tool{Name: "write_file", Description: "Write a file"}, files.write)
	return server.Run(ctx, &mcp.StdioTransport{})
}

// folder serves one directory; os.Root keeps every path inside it.
type folder struct {
	dir  string
	root *os.Root
}

func (f folder) local(path string) string {
	rel := strings.TrimPrefix(strings.TrimPrefix(path, f.dir), "/")
	if rel == "" {
		return "."
	}
	return rel
}

func (f folder) list(_ context.Context, _ *mcp.CallToolRequest, args pathArgs) (*mcp.CallToolResult, textResult, error) {
	entries, err := fs.ReadDir(f.root.FS(), f.local(args.Path))
	if err != nil {
		return nil, textResult{}, err
	}
	var lines []string
	for _, e := range entries {
		kind := "[FILE]"
		if e.IsDir() {
			kind = "[DIR]"
		}
		lines = append(lines, kind+" "+e.Name())
	}
	return text(strings.Join(lines, "\n"))
}

func (f folder) read(_ context.Context, _ *mcp.CallToolRequest, args pathArgs) (*mcp.CallToolResult, textResult, error) {
	content, err := f.root.ReadFile(f.local(args.Path))
	if err != nil {
		return nil, textResult{}, err
	}
	return text(string(content))
}

func (f folder) write(_ context.Context, _ *mcp.CallToolRequest, args writeArgs) (*mcp.CallToolResult, textResult, error) {
	if err := f.root.WriteFile(f.local(args.Path), []byte(args.Content), 0o644); err != nil {
		return nil, textResult{}, err
	}
	return text("Successfully wrote to " + args.Path)
}

// text gives the result in both of its forms, as the npm server does.
func text(s string) (*mcp.CallToolResult, textResult, error) {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: s}}}, textResult{Content: s}, nil
}
