package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// TestCompose checks the compose file: its services, that only published ports of this
// machine lead to Mailhelm, that the other services are not published at all, and that a
// stopping server has time for calls in flight.
func TestCompose(t *testing.T) {
	t.Parallel()
	var file struct {
		Services map[string]struct {
			Image     string
			Ports     []string
			Volumes   []string
			ReadOnly  bool                                  `yaml:"read_only"`
			DependsOn map[string]struct{ Condition string } `yaml:"depends_on"`
			StopGrace time.Duration                         `yaml:"stop_grace_period"`
			Health    struct{ Test []string }               `yaml:"healthcheck"`
		}
		Volumes map[string]any
	}
	if err := yaml.Unmarshal(packaged("compose.yaml"), &file); err != nil {
		t.Fatal(err)
	}
	own := file.Services["mailhelm"]
	if len(file.Services) != 3 || !own.ReadOnly || own.DependsOn["postgres"].Condition != "service_healthy" || own.DependsOn["redis"].Condition != "service_healthy" {
		t.Errorf("services: %+v", file.Services)
	}
	for name, service := range file.Services {
		if len(service.Health.Test) == 0 {
			t.Errorf("%s has no health check", name)
		}
	}
	// The default, 10 seconds, is less than the 15 seconds that a stopping server waits.
	if own.StopGrace < 20*time.Second {
		t.Errorf("Mailhelm is killed %s after the signal to stop", own.StopGrace)
	}
	for _, port := range own.Ports {
		if !strings.HasPrefix(port, "127.0.0.1:") || strings.HasSuffix(port, ":9090") {
			t.Errorf("the port %s is published", port)
		}
	}
	for name, service := range file.Services {
		if name != "mailhelm" && len(service.Ports) > 0 {
			t.Errorf("%s is published", name)
		}
		for _, volume := range service.Volumes {
			if folder, _, _ := strings.Cut(volume, ":"); !slices.Contains(keys(file.Volumes), folder) {
				t.Errorf("%s uses the volume %s, which is not declared", name, folder)
			}
		}
	}
}

func keys(m map[string]any) []string {
	var all []string
	for key := range m {
		all = append(all, key)
	}
	return all
}

// TestUnit checks the systemd unit: each line is an assignment, and the service is confined.
// If systemd-analyze is installed, it checks the exposure of the service.
func TestUnit(t *testing.T) {
	t.Parallel()
	values := map[string]string{}
	for lines := bufio.NewScanner(bytes.NewReader(packaged("mailhelm.service"))); lines.Scan(); {
		line := lines.Text()
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "[") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || strings.TrimSpace(name) != name {
			t.Errorf("no assignment: %s", line)
		}
		values[name] += value
	}
	for name, want := range map[string]string{
		"User": "mailhelm", "ProtectSystem": "strict", "NoNewPrivileges": "yes", "PrivateTmp": "yes", "StateDirectory": "mailhelm",
		"CapabilityBoundingSet": "", "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX", "Restart": "on-failure",
	} {
		if got, ok := values[name]; !ok || got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if subset, ok := values["ProcSubset"]; ok {
		t.Errorf("ProcSubset=%s hides /proc/stat, which process_start_time_seconds is read from, and the length of the queue of connections", subset)
	}
	if !strings.Contains(string(packaged("mailhelm.toml")), `data = "/var/lib/`+values["StateDirectory"]+`"`) || !strings.HasPrefix(values["SystemCallFilter"], "@system-service") {
		t.Error("the data folder is not the state folder of the unit, or all system calls are allowed")
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		return
	}
	output, err := exec.Command(analyze, "security", "--offline=true", "--threshold=20", filepath.Join("files", "mailhelm.service")).CombinedOutput()
	if err != nil {
		t.Errorf("the service is exposed: %v\n%s", err, output)
	}
	checkUnitLoads(t, analyze)
}

// checkUnitLoads lets systemd read the unit, with a program and without a manual page that this
// machine has.
func checkUnitLoads(t *testing.T, analyze string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	unit := strings.NewReplacer("/usr/bin/mailhelm", self, "Documentation=man:mailhelm(1)\n", "").Replace(string(packaged("mailhelm.service")))
	file := filepath.Join(t.TempDir(), "mailhelm.service")
	if err := os.WriteFile(file, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command(analyze, "verify", file).CombinedOutput(); err != nil || len(output) > 0 {
		t.Errorf("systemd-analyze verify: %v\n%s", err, output)
	}
}

// TestScripts checks the syntax of the package's scripts with sh.
func TestScripts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"postinst", "prerm", "postrm"} {
		if output, err := exec.Command("sh", "-n", filepath.Join("files", name)).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, output)
		}
	}
}
