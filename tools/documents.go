package tools

import (
	"net/http"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/tools/content"
)

// serveHealth answers with the status, the build's commit and the time, without
// authentication. It does not read the database; the readiness check at the admin address
// does.
func (s *Server) serveHealth(w http.ResponseWriter, r *http.Request) error {
	if !isRead(r) {
		return refuseMethod(w, "GET, HEAD")
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

// serveMetadata serves the protected-resource document (RFC 9728), which names the
// authorization server that issues tokens.
func (s *Server) serveMetadata(w http.ResponseWriter, r *http.Request) error {
	shareWithAll(w)
	if isPreflight(r) {
		answerPreflight(w, "GET, HEAD")
		return nil
	}
	if !isRead(r) {
		return refuseMethod(w, "GET, HEAD")
	}
	write(w, "application/json", http.StatusOK, s.metadata)
	return nil
}

func isRead(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Method == http.MethodHead
}

func refuseMethod(w http.ResponseWriter, allow string) error {
	w.Header().Set("Allow", allow)
	return &core.Error{Code: core.CodeMethodNotAllowed, Message: "This path takes " + allow + " only."}
}
