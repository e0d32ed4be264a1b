package tools

import (
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/tools/content"
)

// serveHealth returns the build, without authentication. It does not read the store: the
// admin address has the readiness check.
func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) error {
	if !isRead(r) {
		return methodNotAllowed(w, "GET, HEAD")
	}
	body, err := content.Marshal(struct {
		Status string    `json:"status"`
		Commit string    `json:"commit"`
		Time   time.Time `json:"time"`
	}{"ok", s.cfg.Commit, s.cfg.Clock()})
	if err != nil {
		return core.Internal(err)
	}
	write(w, "application/json", http.StatusOK, body)
	return nil
}

// serveMetadata serves the RFC 9728 document, which names where to get a token.
func (s *Server) serveMetadata(w http.ResponseWriter, r *http.Request) error {
	shareWithAll(w)
	if isPreflight(r) {
		answerPreflight(w, "GET, HEAD")
		return nil
	}
	if !isRead(r) {
		return methodNotAllowed(w, "GET, HEAD")
	}
	write(w, "application/json", http.StatusOK, s.metadata)
	return nil
}

func isRead(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

func methodNotAllowed(w http.ResponseWriter, allow string) error {
	w.Header().Set("Allow", allow)
	return &core.Error{Code: core.CodeMethodNotAllowed, Message: "This path takes " + allow + " only."}
}
