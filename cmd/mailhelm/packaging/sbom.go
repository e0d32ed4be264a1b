package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// component is a module in an SBOM of CycloneDX 1.6.
type component struct {
	Type    string `json:"type"`
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl"`
}

// sbom writes an SBOM of the release as CycloneDX JSON. Its components are the modules that
// the Go linker recorded in the programs, of all platforms together.
func (r release) sbom(platforms []platform) error {
	var infos []*debug.BuildInfo
	for _, p := range platforms {
		info, err := buildinfo.ReadFile(p.binary)
		if err != nil {
			return err
		}
		infos = append(infos, info)
	}
	content, err := json.MarshalIndent(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
		"serialNumber": r.serialNumber(),
		"metadata": map[string]any{
			"timestamp": r.at.Format(time.RFC3339),
			"component": component{"application", "mailhelm@" + r.version, "mailhelm", r.version, "pkg:golang/github.com/mailhelm/mailhelm@v" + r.version},
		},
		"components": components(infos),
	}, "", "  ")
	if err != nil {
		return err
	}
	return r.publish("mailhelm_"+r.version+"_sbom.cdx.json", append(content, '\n'))
}

// components returns the modules of programs and the standard library, each version once,
// in the order of their names.
func components(infos []*debug.BuildInfo) []component {
	var all []component
	for _, info := range infos {
		all = append(all, module("std", strings.TrimPrefix(info.GoVersion, "go")))
		for _, m := range info.Deps {
			all = append(all, componentOf(m))
		}
	}
	slices.SortFunc(all, func(a, b component) int { return strings.Compare(a.Ref, b.Ref) })
	return slices.Compact(all)
}

// componentOf returns the component of a module, or of the module that replaces it.
func componentOf(m *debug.Module) component {
	if m.Replace != nil {
		m = m.Replace
	}
	return module(m.Path, m.Version)
}

// module returns the component of a Go module in a version.
func module(name, version string) component {
	purl := "pkg:golang/" + name + "@" + version
	return component{"library", purl, name, version, purl}
}

// serialNumber returns the number of the SBOM: a UUID of version 8 from version and commit,
// so that a repeated build gives the same file.
func (r release) serialNumber() string {
	b := sha256.Sum256([]byte("mailhelm sbom 1\x00" + r.version + "\x00" + r.commit))
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
