package main

import (
	"bytes"
	"crypto/md5" //nolint:gosec // the format of Debian packages lists these sums
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// debian writes the Debian package for a platform. The package installs the program, the
// systemd unit, a configuration file, the manual page and the completion scripts.
func (r release) debian(p platform, e extras) error {
	program, err := os.ReadFile(p.binary)
	if err != nil {
		return err
	}
	man, err := compress(e.man)
	if err != nil {
		return err
	}
	licence, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	data := []entry{
		{name: "etc/mailhelm/mailhelm.toml", mode: 0o640, content: packaged("mailhelm.toml")},
		{name: "usr/bin/mailhelm", mode: 0o755, content: program},
		{name: "usr/lib/systemd/system/mailhelm.service", mode: 0o644, content: packaged("mailhelm.service")},
		{name: "usr/share/bash-completion/completions/mailhelm", mode: 0o644, content: e.bash},
		{name: "usr/share/doc/mailhelm/copyright", mode: 0o644, content: licence},
		{name: "usr/share/fish/vendor_completions.d/mailhelm.fish", mode: 0o644, content: e.fish},
		{name: "usr/share/man/man1/mailhelm.1.gz", mode: 0o644, content: man},
		{name: "usr/share/zsh/vendor-completions/_mailhelm", mode: 0o644, content: e.zsh},
	}
	for _, name := range monitoringFiles {
		data = append(data, entry{name: "usr/share/mailhelm/" + name, mode: 0o644, content: packaged(name)})
	}
	content, err := r.debianPackage(p.arch, data)
	if err != nil {
		return err
	}
	return r.publish(fmt.Sprintf("mailhelm_%s_%s.deb", debianVersion(r.version), p.arch), content)
}

// debianPackage returns a package with the files data: an ar archive of the version of the
// format, the control files and the files (deb(5)).
func (r release) debianPackage(arch string, data []entry) ([]byte, error) {
	size := 0
	var sums strings.Builder
	for _, e := range data {
		size += len(e.content)
		fmt.Fprintf(&sums, "%x  %s\n", md5.Sum(e.content), e.name) //nolint:gosec // see the import
	}
	control := strings.NewReplacer(
		"{version}", debianVersion(r.version), "{arch}", arch, "{size}", fmt.Sprint(size/1024+1),
	).Replace(string(packaged("control")))
	scripts := []entry{
		{name: "./control", mode: 0o644, content: []byte(control)},
		{name: "./conffiles", mode: 0o644, content: []byte("/etc/mailhelm/mailhelm.toml\n")},
		{name: "./md5sums", mode: 0o644, content: []byte(sums.String())},
		{name: "./postinst", mode: 0o755, content: packaged("postinst")},
		{name: "./prerm", mode: 0o755, content: packaged("prerm")},
		{name: "./postrm", mode: 0o755, content: packaged("postrm")},
	}
	members := []entry{{name: "debian-binary", content: []byte("2.0\n")}}
	for _, part := range []struct {
		name    string
		entries []entry
	}{{"control.tar.gz", scripts}, {"data.tar.gz", withFolders(data)}} {
		content, err := tarball(part.entries, r.at)
		if err != nil {
			return nil, err
		}
		if content, err = compress(content); err != nil {
			return nil, err
		}
		members = append(members, entry{name: part.name, content: content})
	}
	return r.ar(members), nil
}

// ar returns entries as an ar archive.
func (r release) ar(members []entry) []byte {
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	for _, m := range members {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", m.name, r.at.Unix(), 0, 0, "100644", len(m.content))
		b.Write(m.content)
		if len(m.content)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// withFolders returns entries with "./" before each name, and each parent folder before
// its files. dpkg removes only folders that a package lists.
func withFolders(entries []entry) []entry {
	all := []entry{{name: "./", mode: 0o755}}
	seen := map[string]bool{".": true}
	for _, e := range entries {
		var parents []string
		for dir := path.Dir(e.name); !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			parents = append(parents, dir)
		}
		slices.Reverse(parents)
		for _, dir := range parents {
			all = append(all, entry{name: "./" + dir + "/", mode: 0o755})
		}
		e.name = "./" + e.name
		all = append(all, e)
	}
	return all
}

// debianVersion returns a version in Debian's form: a version before a release, such as
// 1.2.3-rc.1, sorts before 1.2.3 with a tilde, 1.2.3~rc.1.
func debianVersion(version string) string {
	return strings.ReplaceAll(strings.Replace(version, "-", "~", 1), "-", ".")
}
