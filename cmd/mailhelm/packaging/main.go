package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// release describes the release to package. All paths are relative to the working folder,
// the root of the repository.
type release struct {
	// version is the version without "v", such as 1.2.3. commit is the full revision, and at
	// its time, which all packaged files get.
	version, commit string
	at              time.Time
	// binaries has the built programs: a folder for each platform, such as linux_amd64.
	// native is the program for this machine, which prints the manual page and the completion
	// scripts.
	binaries, native string
	// certificates is the file with the certificate authorities for the container image.
	certificates string
	// dist is the folder for the results.
	dist string
}

func main() {
	var r release
	var unix int64
	flag.StringVar(&r.version, "version", "", "version without v")
	flag.StringVar(&r.commit, "commit", "", "full revision")
	flag.Int64Var(&unix, "time", 0, "time of the commit, in seconds since 1970")
	flag.StringVar(&r.binaries, "binaries", "dist/binaries", "folder with the programs by platform")
	flag.StringVar(&r.native, "native", "", "program for this machine")
	flag.StringVar(&r.certificates, "certificates", "/etc/ssl/certs/ca-certificates.crt", "certificate authorities for the container image")
	flag.StringVar(&r.dist, "dist", "dist", "folder for the results")
	flag.Parse()
	r.at = time.Unix(unix, 0).UTC()
	if err := r.write(); err != nil {
		fmt.Fprintf(os.Stderr, "packaging: %v\n", err)
		os.Exit(1)
	}
}

// platforms returns the platforms in the folder of binaries, such as linux/amd64, in
// alphabetical order.
func (r release) platforms() ([]platform, error) {
	folders, err := os.ReadDir(r.binaries)
	if err != nil {
		return nil, err
	}
	var all []platform
	for _, folder := range folders {
		system, arch, ok := strings.Cut(folder.Name(), "_")
		if !ok {
			return nil, fmt.Errorf("%s: the folder is not named like linux_amd64", folder.Name())
		}
		p := platform{system: system, arch: arch}
		p.binary = filepath.Join(r.binaries, folder.Name(), p.program())
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no programs", r.binaries)
	}
	return all, nil
}

// platform is one operating system and architecture, with the path of its program.
type platform struct{ system, arch, binary string }

// program returns the file name of the program on the platform.
func (p platform) program() string {
	if p.system == "windows" {
		return "mailhelm.exe"
	}
	return "mailhelm"
}

// write writes all files of the release. It fails at the first file that cannot be written.
func (r release) write() error {
	if r.version == "" || strings.HasPrefix(r.version, "v") || r.commit == "" {
		return errors.New("-version needs a version without v, and -commit a revision")
	}
	platforms, err := r.platforms()
	if err != nil {
		return err
	}
	extras, err := r.extras()
	if err != nil {
		return err
	}
	var images []platform
	for _, p := range platforms {
		if err := r.archive(p, extras); err != nil {
			return fmt.Errorf("archive for %s/%s: %w", p.system, p.arch, err)
		}
		if p.system != "linux" {
			continue
		}
		images = append(images, p)
		if err := r.debian(p, extras); err != nil {
			return fmt.Errorf("package of Debian for %s: %w", p.arch, err)
		}
	}
	if len(images) > 0 {
		if err := r.image(images); err != nil {
			return fmt.Errorf("container image: %w", err)
		}
	}
	for _, name := range append(monitoringFiles, "compose.yaml") {
		if err := r.publish(name, packaged(name)); err != nil {
			return err
		}
	}
	if err := r.sbom(platforms); err != nil {
		return fmt.Errorf("SBOM: %w", err)
	}
	return r.checksums()
}

// publish writes a file, which everyone may read, into the folder of results.
func (r release) publish(name string, content []byte) error {
	return os.WriteFile(filepath.Join(r.dist, name), content, 0o644) //nolint:gosec // a file for publication
}
