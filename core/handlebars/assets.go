package handlebars

import (
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/htmlcontext"
)

// Assets returns the paths of {{asset "path"}} in the order of their first use.
func (t *Template) Assets() []string { return t.assets }

// AssetTag returns the tag that names the path. The path must have no backslash.
func AssetTag(path string) string {
	return `{{` + assetHelper + ` "` + strings.ReplaceAll(path, `"`, `\"`) + `"}}`
}

// WithAssets returns a copy of the template in which each {{asset "path"}} whose path is in
// addresses prints that address, escaped as its place in the HTML requires. Other paths
// stay as written. The addresses are trusted: their scheme is not checked.
func (t *Template) WithAssets(addresses map[string]string) *Template {
	changed := *t
	changed.operations = slices.Clone(t.operations)
	for i, o := range changed.operations {
		if address, ok := addresses[o.asset]; ok && o.code == opAsset {
			changed.operations[i] = operation{code: opText, text: escapeAddress(address, o.escape)}
		}
	}
	return &changed
}

// escapeAddress returns an address as a template prints it.
func escapeAddress(address string, escape htmlcontext.Escape) string {
	text := string(htmlcontext.Append(nil, address, escape))
	if text == "" && escape&htmlcontext.EscapeNotEmpty != 0 {
		return htmlcontext.EncodedSpace
	}
	return text
}

// ReplaceAssets returns the source of a template in which each {{asset "path"}} is replaced
// by its address, escaped as its place in the HTML requires. address returns the address of
// a path, or false for a tag that stays as written. Addresses are trusted and must not have
// braces. ReplaceAssets fails as [Parse] does.
func ReplaceAssets(source string, mode Mode, address func(path string) (string, bool)) (string, error) {
	root, err := parseProgram(source, mode)
	if err != nil {
		return "", err
	}
	r := assetReplacer{source: source, address: address}
	r.program(root)
	r.out.WriteString(source[r.at:])
	return r.out.String(), nil
}

// assetReplacer writes a source with the addresses of its assets.
type assetReplacer struct {
	source  string
	address func(path string) (string, bool)
	out     strings.Builder
	at      int // the offset in source up to which out is written
}

func (r *assetReplacer) program(p *program) {
	if p == nil {
		return
	}
	for _, n := range p.body {
		if n.kind == nodeAsset {
			r.asset(n)
		}
		r.program(n.main)
		r.program(n.other)
	}
}

// asset replaces one tag. A comment keeps the effect of "~" on the white space around it.
func (r *assetReplacer) asset(n *node) {
	address, ok := r.address(n.name)
	if !ok {
		return
	}
	r.out.WriteString(r.source[r.at:n.at])
	if n.strip.open {
		r.out.WriteString("{{~!}}")
	}
	r.out.WriteString(escapeAddress(address, n.escape))
	if n.strip.close {
		r.out.WriteString("{{!~}}")
	}
	r.at = n.at + len(n.text)
}
