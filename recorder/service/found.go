package service

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// foundFile is how clients find the service: its address and its token.
type foundFile struct {
	URL       string    `json:"url"`
	Token     string    `json:"token"`
	PID       int       `json:"pid"`
	Version   string    `json:"version"`
	StartedAt time.Time `json:"startedAt"`
}

func foundPath(home string) string { return filepath.Join(home, "service.json") }

// publish writes the file at once or not at all; os.CreateTemp makes it 0600.
func (f foundFile) publish(home string) error {
	tmp, err := os.CreateTemp(home, "service-*.tmp")
	if err != nil {
		return err
	}
	err = errors.Join(json.NewEncoder(tmp).Encode(f), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), foundPath(home))
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

// withdraw removes the file, unless another process has put its own there.
func (f foundFile) withdraw(home string) error {
	data, err := os.ReadFile(foundPath(home))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var found foundFile
	if json.Unmarshal(data, &found) == nil && found.Token != f.Token {
		return nil
	}
	return os.Remove(foundPath(home))
}
