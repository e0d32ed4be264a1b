package markdown

import (
	"fmt"
	"html"
	"io/fs"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// elements renders code blocks, which can be scrolled by keyboard, and figures.
type elements struct{ figures fs.FS }

// RegisterFuncs implements renderer.NodeRenderer.
func (e elements) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, e.code)
	r.Register(ast.KindImage, e.figure)
}

// code writes a code block, with its language for the style and the script.
func (e elements) code(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	block := node.(*ast.FencedCodeBlock)
	fmt.Fprintf(w, `<pre tabindex="0" data-language="%s"><code>`, html.EscapeString(string(block.Language(source))))
	_, _ = w.WriteString(html.EscapeString(strings.TrimSuffix(string(block.Lines().Value(source)), "\n")))
	_, _ = w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, nil
}

// figure writes the drawing that an image names.
func (e elements) figure(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	image := node.(*ast.Image)
	name, ok := strings.CutPrefix(string(image.Destination), "figure:")
	if !ok {
		return ast.WalkStop, fmt.Errorf("image %q is not a figure", image.Destination)
	}
	drawing, err := fs.ReadFile(e.figures, name+".svg")
	if err != nil {
		return ast.WalkStop, err
	}
	label := html.EscapeString(plain(image, source))
	_, _ = w.WriteString(strings.Replace(string(drawing), "<svg", `<svg role="img" aria-label="`+label+`"`, 1))
	return ast.WalkSkipChildren, nil
}
