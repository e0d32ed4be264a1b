package handlebars

import (
	"slices"

	"github.com/mailhelm/mailhelm/core/htmlcontext"
)

// Assets returns the paths of {{asset "path"}} in the order of their first use.
func (t *Template) Assets() []string { return t.assets }

// WithAssets returns a copy of the template in which each {{asset "path"}} whose path is in
// addresses prints that address, escaped as its place in the HTML requires. Other paths
// stay as written. The addresses are trusted: their scheme is not checked.
func (t *Template) WithAssets(addresses map[string]string) *Template {
	changed := *t
	changed.operations = slices.Clone(t.operations)
	for i, o := range changed.operations {
		if address, ok := addresses[o.asset]; ok && o.code == opAsset {
			text := string(htmlcontext.Append(nil, address, o.escape))
			if text == "" && o.escape&htmlcontext.EscapeNotEmpty != 0 {
				text = htmlcontext.EncodedSpace
			}
			changed.operations[i] = operation{code: opText, text: text}
		}
	}
	return &changed
}
