package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// listForm has the JSON of the result of tools/list before and after its items.
type listForm struct{ before, after []byte }

// newListForm returns the form of a list. modern is true for protocol revision 2026-07-28.
func (p *protocol) newListForm(modern bool) (listForm, error) {
	list := &mcp.ListToolsResult{Cacheable: cacheable, Tools: []*mcp.Tool{}}
	if modern {
		list.ResultType = "complete"
		list.Meta = mcp.Meta{mcp.MetaKeyServerInfo: p.name}
	}
	encoded, err := json.Marshal(list)
	if err != nil {
		return listForm{}, fmt.Errorf("form of the list of tools: %w", err)
	}
	const items = `"tools":[`
	before, after, found := bytes.Cut(encoded, []byte(items+`]`))
	if !found {
		return listForm{}, fmt.Errorf("form of the list of tools: no items in %s", encoded)
	}
	return listForm{append(before, items...), append([]byte(`]`), after...)}, nil
}

// answerList answers tools/list with the tools that the caller may call by its scopes and its
// environment. A test credential, for example, does not see destructive tools.
func (s *Server) answerList(w http.ResponseWriter, x *exchange) error {
	form := s.protocol.legacyList
	if x.message.IsModern() {
		form = s.protocol.modernList
	}
	a := newAnswer(&x.message)
	defer a.release()
	a.Write(form.before)
	first := true
	for _, t := range s.tools.sorted {
		if t.checkAllowed(x.principal) != nil {
			continue
		}
		if !first {
			a.WriteByte(',')
		}
		encoded, err := t.encoded()
		if err != nil {
			return err
		}
		a.Write(encoded)
		first = false
	}
	a.Write(form.after)
	a.WriteByte('}')
	s.noteAnswer(x, a.Len())
	write(w, "application/json", http.StatusOK, a.Bytes())
	return nil
}
