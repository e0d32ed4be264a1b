package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// packed writes a release with stand-ins for the programs and returns it. The program for
// linux/amd64 is this test, because the SBOM needs a program that Go has built.
func packed(t *testing.T) release {
	t.Helper()
	t.Chdir("../../..") // LICENSE and README.md are there
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := release{
		version: "1.2.3-rc.1", commit: "0123abc", at: time.Unix(1_790_000_000, 0).UTC(), binaries: filepath.Join(dir, "binaries"),
		native: filepath.Join(dir, "native"), certificates: filepath.Join(dir, "roots.crt"), dist: filepath.Join(dir, "dist"),
	}
	for name, text := range map[string]string{r.native: "#!/bin/sh\necho printed \"$@\"\n", r.certificates: "roots\n"} {
		if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"linux_amd64/mailhelm", "windows_amd64/mailhelm.exe"} {
		path := filepath.Join(r.binaries, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.MkdirAll(r.dist, 0o700), os.Symlink(self, path)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.write(); err != nil {
		t.Fatal(err)
	}
	return r
}

// unpack returns the files of a tar archive by name, with their headers.
func unpack(t *testing.T, content []byte) (map[string][]byte, map[string]*tar.Header) {
	t.Helper()
	files, headers := map[string][]byte{}, map[string]*tar.Header{}
	for reader := tar.NewReader(bytes.NewReader(content)); ; {
		h, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files, headers
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(reader); err != nil {
			t.Fatal(err)
		}
		headers[h.Name] = h
	}
}

func read(t *testing.T, r release, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(r.dist, name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func gunzip(t *testing.T, content []byte) []byte {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func TestRelease(t *testing.T) {
	r := packed(t)
	entries, err := os.ReadDir(r.dist)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{
		"SHA256SUMS", "compose.yaml", "grafana-dashboard.json", "mailhelm_1.2.3-rc.1_image.tar", "mailhelm_1.2.3-rc.1_linux_amd64.tar.gz",
		"mailhelm_1.2.3-rc.1_sbom.cdx.json", "mailhelm_1.2.3-rc.1_windows_amd64.zip", "mailhelm_1.2.3~rc.1_amd64.deb", "prometheus-alerts.yml",
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	for line := range strings.Lines(string(read(t, r, "SHA256SUMS"))) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if got := fmt.Sprintf("%x", sha256.Sum256(read(t, r, name))); got != sum {
			t.Errorf("%s: the sum is %s", name, sum)
		}
	}
	t.Run("image", func(t *testing.T) { checkImage(t, r) })
	t.Run("Debian", func(t *testing.T) { checkDebian(t, r) })
	t.Run("SBOM", func(t *testing.T) { checkSBOM(t, r) })
}

// checkImage reads the image as a tool for OCI layouts does, from the index to the layer.
func checkImage(t *testing.T, r release) {
	blobs, _ := unpack(t, read(t, r, "mailhelm_1.2.3-rc.1_image.tar"))
	if string(blobs["oci-layout"]) != `{"imageLayoutVersion":"1.0.0"}` {
		t.Errorf("oci-layout: %s", blobs["oci-layout"])
	}
	blob := func(d descriptor, into any) []byte {
		t.Helper()
		content := blobs["blobs/sha256/"+strings.TrimPrefix(d.Digest, "sha256:")]
		if len(content) != d.Size || fmt.Sprintf("sha256:%x", sha256.Sum256(content)) != d.Digest {
			t.Fatalf("the blob %s is missing or differs", d.Digest)
		}
		if into != nil {
			if err := json.Unmarshal(content, into); err != nil {
				t.Fatal(err)
			}
		}
		return content
	}
	var top, all index
	if err := json.Unmarshal(blobs["index.json"], &top); err != nil || len(top.Manifests) != 1 {
		t.Fatalf("index: %v %+v", err, top)
	}
	blob(top.Manifests[0], &all)
	if len(all.Manifests) != 1 || *all.Manifests[0].Platform != (imagePlatform{"amd64", "linux"}) {
		t.Fatalf("images: %+v", all)
	}
	var image manifest
	blob(all.Manifests[0], &image)
	var config imageConfig
	blob(image.Config, &config)
	run := config.Config
	_, volume := run.Volumes["/data"]
	_, admin := run.ExposedPorts["9090/tcp"]
	if run.User != "65532:65532" || !slices.Equal(run.Entrypoint, []string{"/mailhelm"}) || !slices.Equal(run.Cmd, []string{"serve"}) || !volume || admin ||
		!slices.Contains(run.Env, "MAILHELM_API_ADDR=:8080") || len(run.ExposedPorts) != 5 || run.Labels["org.opencontainers.image.version"] != r.version || run.Labels["org.opencontainers.image.revision"] != r.commit || config.OS != "linux" {
		t.Errorf("configuration: %+v", config)
	}
	if len(image.Layers) != 1 || len(config.RootFS.DiffIDs) != 1 {
		t.Fatalf("layers: %+v", image)
	}
	layer := gunzip(t, blob(image.Layers[0], nil))
	if got := fmt.Sprintf("sha256:%x", sha256.Sum256(layer)); got != config.RootFS.DiffIDs[0] {
		t.Errorf("the layer is %s, the configuration names %s", got, config.RootFS.DiffIDs[0])
	}
	files, headers := unpack(t, layer)
	if string(files["etc/ssl/certs/ca-certificates.crt"]) != "roots\n" || headers["mailhelm"].Mode != 0o755 || len(files["mailhelm"]) == 0 ||
		headers["data/"].Uid != 65532 || headers["data/"].Mode != 0o700 || headers["tmp/"].Mode != 0o1777 || len(files) != 7 {
		t.Errorf("the layer has %v", headers)
	}
}

// checkDebian reads the package with dpkg-deb if that is installed.
func checkDebian(t *testing.T, r release) {
	name := "mailhelm_1.2.3~rc.1_amd64.deb"
	if content := read(t, r, name); !bytes.HasPrefix(content, []byte("!<arch>\ndebian-binary   ")) {
		t.Errorf("the package begins with %q", content[:40])
	}
	dpkg, err := exec.LookPath("dpkg-deb")
	if err != nil {
		return // not installed
	}
	for option, want := range map[string][]string{
		"--info":     {"Package: mailhelm", "Version: 1.2.3~rc.1", "Architecture: amd64", "Depends: adduser, ca-certificates", "postinst", "conffiles"},
		"--contents": {"-rwxr-xr-x root/root", " ./usr/bin/mailhelm", "./usr/lib/systemd/system/mailhelm.service", "-rw-r----- root/root", "./etc/mailhelm/mailhelm.toml", "./usr/share/man/man1/mailhelm.1.gz", "./usr/share/mailhelm/prometheus-alerts.yml", "./usr/share/mailhelm/grafana-dashboard.json"},
	} {
		output, err := exec.Command(dpkg, option, filepath.Join(r.dist, name)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		for _, text := range want {
			if !strings.Contains(string(output), text) {
				t.Errorf("%s lacks %q:\n%s", option, text, output)
			}
		}
	}
}

// checkSBOM checks the form of the SBOM. The stand-in for a program has no modules.
func checkSBOM(t *testing.T, r release) {
	var sbom struct {
		BomFormat, SpecVersion, SerialNumber string
		Components                           []component
	}
	err := json.Unmarshal(read(t, r, "mailhelm_1.2.3-rc.1_sbom.cdx.json"), &sbom)
	if err != nil || sbom.BomFormat != "CycloneDX" || sbom.SpecVersion != "1.6" || !strings.HasPrefix(sbom.SerialNumber, "urn:uuid:") ||
		len(sbom.Components) != 1 || sbom.Components[0].Name != "std" {
		t.Errorf("%v: %+v", err, sbom)
	}
}

func TestComponents(t *testing.T) {
	t.Parallel()
	linux := &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{
		{Path: "example.com/b", Version: "v2.0.0"},
		{Path: "example.com/a", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v1.1.0"}},
	}}
	windows := &debug.BuildInfo{GoVersion: "go1.26.8", Deps: []*debug.Module{{Path: "example.com/b", Version: "v2.0.0"}}}
	var got []string
	for _, c := range components([]*debug.BuildInfo{linux, windows}) {
		got = append(got, c.PURL)
	}
	want := "pkg:golang/example.com/b@v2.0.0 pkg:golang/example.com/fork@v1.1.0 pkg:golang/std@1.26.8"
	if strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
