package ingest

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"

	"github.com/mailhelm/mailhelm/core/sending"
)

// keyHeader is the header in which an EventBridge API destination sends the ingest key of
// the connection.
const keyHeader = "X-Api-Key"

// takeEventBridge stores an event from an EventBridge API destination if the request has
// the connection's key. API destinations do not sign requests, so anyone who knows the key
// can send events.
func (g *ingest) takeEventBridge(r *http.Request, c sending.Connection, body []byte) error {
	given := sha256.Sum256([]byte(r.Header.Get(keyHeader)))
	if len(c.IngestKeyHash) != sha256.Size || subtle.ConstantTimeCompare(given[:], c.IngestKeyHash) != 1 {
		return g.originError("the key is not that of the connection")
	}
	return g.record(r.Context(), c.OrgID, body)
}
