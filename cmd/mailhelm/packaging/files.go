package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

//go:embed files
var files embed.FS

// packaged returns a file of the folder files. It panics if there is no such file, which a
// test excludes.
func packaged(name string) []byte {
	text, err := files.ReadFile("files/" + name)
	if err != nil {
		panic(err)
	}
	return text
}

// entry is a file or a folder to package. The name of a folder ends with a slash.
type entry struct {
	name    string
	mode    int64
	content []byte
	// uid owns the file in the container image; 0 elsewhere.
	uid int
}

// tarball returns entries as a tar archive. Parent folders must be entries of their own
// where a reader needs them. All files get the same time.
func tarball(entries []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Mode: e.mode, Size: int64(len(e.content)), ModTime: at, Uid: e.uid, Gid: e.uid, Typeflag: tar.TypeReg, Format: tar.FormatGNU}
		if e.uid == 0 {
			h.Uname, h.Gname = "root", "root"
		}
		if strings.HasSuffix(e.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// compress returns content compressed with gzip, without a time.
func compress(content []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write(content)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// extras are the files that the program itself prints: the manual page and the completion
// scripts.
type extras struct{ man, bash, zsh, fish []byte }

// monitoringFiles are the files for Prometheus and Grafana. They are in the archives and the
// Debian packages, and beside them for those who use the container image.
var monitoringFiles = []string{"grafana-dashboard.json", "prometheus-alerts.yml"}

// extras runs the program for this machine and returns what it prints.
func (r release) extras() (extras, error) {
	var e extras
	for _, one := range []struct {
		into *[]byte
		args []string
	}{
		{&e.man, []string{"man"}},
		{&e.bash, []string{"completion", "bash"}},
		{&e.zsh, []string{"completion", "zsh"}},
		{&e.fish, []string{"completion", "fish"}},
	} {
		output, err := exec.Command(r.native, one.args...).Output() //nolint:gosec // the program that was built before
		if err != nil {
			return e, fmt.Errorf("%s %s: %w", r.native, strings.Join(one.args, " "), err)
		}
		*one.into = output
	}
	return e, nil
}

// archive writes the archive for a platform: the program, the licence, the README, the
// manual page and the completion scripts. Windows gets a ZIP archive, others tar with gzip.
func (r release) archive(p platform, e extras) error {
	folder := fmt.Sprintf("mailhelm_%s_%s_%s", r.version, p.system, p.arch)
	entries := []entry{{name: p.program(), mode: 0o755}}
	for _, name := range []string{"LICENSE", "README.md"} {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		entries = append(entries, entry{name: name, mode: 0o644, content: content})
	}
	var err error
	if entries[0].content, err = os.ReadFile(p.binary); err != nil {
		return err
	}
	if p.system == "windows" {
		return r.zip(folder, entries)
	}
	entries = append(entries,
		entry{name: "mailhelm.1", mode: 0o644, content: e.man},
		entry{name: "completions/mailhelm.bash", mode: 0o644, content: e.bash},
		entry{name: "completions/_mailhelm", mode: 0o644, content: e.zsh},
		entry{name: "completions/mailhelm.fish", mode: 0o644, content: e.fish})
	for _, name := range monitoringFiles {
		entries = append(entries, entry{name: "monitoring/" + name, mode: 0o644, content: packaged(name)})
	}
	if p.system == "linux" {
		entries = append(entries, entry{name: "mailhelm.service", mode: 0o644, content: packaged("mailhelm.service")})
	}
	for i := range entries {
		entries[i].name = path.Join(folder, entries[i].name)
	}
	content, err := tarball(entries, r.at)
	if err != nil {
		return err
	}
	if content, err = compress(content); err != nil {
		return err
	}
	return r.publish(folder+".tar.gz", content)
}

// zip writes entries as a ZIP archive into the folder of results.
func (r release) zip(folder string, entries []entry) error {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range entries {
		f, err := w.CreateHeader(&zip.FileHeader{Name: path.Join(folder, e.name), Method: zip.Deflate, Modified: r.at})
		if err != nil {
			return err
		}
		if _, err := f.Write(e.content); err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	return r.publish(folder+".zip", b.Bytes())
}

// checksums writes SHA256SUMS, which `sha256sum --check` reads, over all files in the folder
// of results.
func (r release) checksums() error {
	entries, err := os.ReadDir(r.dist)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, e := range entries {
		if e.IsDir() || e.Name() == "SHA256SUMS" {
			continue
		}
		sum, err := digestOfFile(filepath.Join(r.dist, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%s  %s\n", sum, e.Name())
	}
	return r.publish("SHA256SUMS", []byte(sums.String()))
}

// digestOfFile returns the SHA-256 of a file in hexadecimal digits.
func digestOfFile(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // opened for reading
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
