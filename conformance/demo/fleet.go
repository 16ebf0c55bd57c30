package demo

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// Device is one machine of the fleet.
type Device struct {
	ID     string  `json:"id"`
	Model  string  `json:"model"`
	Status string  `json:"status"` // "active" or "retired"
	Risk   float64 `json:"risk"`   // 0 to 1, two digits
	Owner  string  `json:"owner"`
}

// Region is one folder of the fleet: devices.json, thresholds.json, logs/ID.log
// and reports/.
type Region struct {
	Name    string
	Devices []Device
	Alert   float64
	Logs    map[string][]string // by device id
}

// RegionNames are the regions of the fleet. The job is recorded in the first.
var RegionNames = []string{"eu-west", "ap-south", "us-east", "sa-east"}

var (
	owners = []string{"Ada Lovelace", "Grace Hopper", "Alan Turing", "Katherine Johnson", "Edsger Dijkstra", "Radia Perlman"}
	models = []string{"pump-2", "valve-9", "turbine-x", "sensor-4"}
	events = []string{"INFO heartbeat ok", "INFO firmware checked", "WARN pressure above normal", "WARN retry after timeout", "ERROR temperature above limit", "ERROR no answer from controller"}
)

// NewFleet makes the same fleet for the same seed. Outside the first region the
// device with the highest risk of all is a retired one: picking by risk alone is
// right where the job was recorded and wrong elsewhere, until a hand edit says so.
func NewFleet(seed uint64) []Region {
	rng := rand.New(rand.NewPCG(seed, 0))
	var fleet []Region
	for i, name := range RegionNames {
		fleet = append(fleet, newRegion(rng, name, i > 0))
	}
	return fleet
}

func newRegion(rng *rand.Rand, name string, retiredPeak bool) Region {
	r := Region{Name: name, Alert: float64(60+rng.IntN(30)) / 100, Logs: map[string][]string{}}
	risks := rng.Perm(90)
	count := 8 + rng.IntN(5)
	for i := range count {
		d := Device{
			ID:     fmt.Sprintf("%s-%02d", name, i+1),
			Model:  models[rng.IntN(len(models))],
			Status: "active",
			Risk:   float64(risks[i]+5) / 100,
			Owner:  owners[rng.IntN(len(owners))],
		}
		r.Devices = append(r.Devices, d)
		r.Logs[d.ID] = newLog(rng, d.ID)
	}
	if retiredPeak {
		r.Devices[count-2].Status, r.Devices[count-2].Risk = "retired", 0.99
	}
	return r
}

func newLog(rng *rand.Rand, id string) []string {
	var lines []string
	for hour := range 4 + rng.IntN(6) {
		lines = append(lines, fmt.Sprintf("2026-11-%02dT%02d:%02d:00Z %s %s",
			1+rng.IntN(28), hour*2, rng.IntN(60), id, events[rng.IntN(len(events))]))
	}
	return lines
}

// Write lays the fleet out below dir, which it empties first.
func Write(dir string, fleet []Region) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	for _, r := range fleet {
		if err := r.write(filepath.Join(dir, r.Name)); err != nil {
			return fmt.Errorf("write region %s: %w", r.Name, err)
		}
	}
	return nil
}

func (r Region) write(dir string) error {
	files := map[string]string{}
	devices, err := json.MarshalIndent(map[string]any{"region": r.Name, "devices": r.Devices}, "", "  ")
	if err != nil {
		return err
	}
	thresholds, err := json.MarshalIndent(map[string]any{"alert": r.Alert, "unit": "probability"}, "", "  ")
	if err != nil {
		return err
	}
	files["devices.json"], files["thresholds.json"] = string(devices), string(thresholds)
	for id, lines := range r.Logs {
		files[filepath.Join("logs", id+".log")] = strings.Join(lines, "\n")
	}
	for _, sub := range []string{"logs", "reports"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Truth is the report of the riskiest active device, computed from the data that
// was generated and not from what any tool returned.
func (r Region) Truth() (Device, string) {
	var worst Device
	for _, d := range r.Devices {
		if d.Status == "active" && d.Risk > worst.Risk {
			worst = d
		}
	}
	log := r.Logs[worst.ID]
	return worst, report(r.Name, worst, r.Alert, log[len(log)-1])
}

func report(region string, d Device, alert float64, lastLine string) string {
	return fmt.Sprintf("# Report for %s\n\nRegion: %s\nOwner: %s\nRisk: %v (alert at %v)\nLast log line: %s\n",
		d.ID, region, d.Owner, d.Risk, alert, lastLine)
}
