package login

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core/throttle"
)

// clientOf returns the network of the request's client, for counting attempts. It uses
// forwarding headers of trusted proxies only, because anyone can send such headers.
func (s *Site) clientOf(r *http.Request) string {
	return throttle.NetworkOf(s.proxies.Remote(r))
}
