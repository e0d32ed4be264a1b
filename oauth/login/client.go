package login

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core/throttle"
)

// clientOf names where a request comes from, for counting attempts. Headers that
// say otherwise are believed of known proxies alone: anybody can send them.
func (s *Site) clientOf(r *http.Request) string {
	return throttle.NetworkOf(s.proxies.Remote(r))
}
