package wire

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/inprocess"
)

// Config configures the handler. Account and OrgID are required.
type Config struct {
	// Account has all state; closing it is the caller's task.
	Account *simulator.Simulator
	// OrgID is the organization whose account every request uses.
	OrgID string
	// AccessKeyID is the accepted key of signatures; "" accepts any key.
	AccessKeyID string
}

// wire is the receiver of the handlers.
type wire struct {
	account *simulator.Simulator
	org     string
	key     string
}

// maxBody limits the body of a request, in bytes. A longer one fails with
// SerializationException.
const maxBody = 64 << 20

// New returns a handler for the provider's paths. It is safe for concurrent use.
func New(c Config) http.Handler {
	w := &wire{account: c.Account, org: c.OrgID, key: c.AccessKeyID}
	mux := http.NewServeMux()
	for pattern, do := range map[string]operation{
		"GET /v2/email/account":                                  w.getAccount,
		"POST /v2/email/account/details":                         w.putAccountDetails,
		"POST /v2/email/list-identities":                         w.listEmailIdentities,
		"GET /v2/email/identities":                               w.listEmailIdentities,
		"GET /v2/email/identities/{identity}":                    w.getEmailIdentity,
		"POST /v2/email/list-configuration-sets":                 w.listConfigurationSets,
		"GET /v2/email/configuration-sets":                       w.listConfigurationSets,
		"GET /v2/email/configuration-sets/{set}":                 w.getConfigurationSet,
		"GET /v2/email/contact-lists":                            w.listContactLists,
		"POST /v2/email/contact-lists":                           w.createContactList,
		"GET /v2/email/contact-lists/{list}":                     w.getContactList,
		"PUT /v2/email/contact-lists/{list}":                     w.updateContactList,
		"POST /v2/email/contact-lists/{list}/contacts/list":      w.listContacts,
		"POST /v2/email/contact-lists/{list}/contacts":           w.createContact,
		"GET /v2/email/contact-lists/{list}/contacts/{email}":    w.getContact,
		"PUT /v2/email/contact-lists/{list}/contacts/{email}":    w.updateContact,
		"DELETE /v2/email/contact-lists/{list}/contacts/{email}": w.deleteContact,
		"GET /v2/email/suppression/addresses":                    w.listSuppressedDestinations,
		"GET /v2/email/suppression/addresses/{email}":            w.getSuppressedDestination,
		"GET /v2/email/templates":                                w.listEmailTemplates,
		"POST /v2/email/templates":                               w.createEmailTemplate,
		"GET /v2/email/templates/{template}":                     w.getEmailTemplate,
		"PUT /v2/email/templates/{template}":                     w.updateEmailTemplate,
		"DELETE /v2/email/templates/{template}":                  w.deleteEmailTemplate,
		"POST /v2/email/templates/{template}/render":             w.testRenderEmailTemplate,
		"POST /v2/email/outbound-emails":                         w.sendEmail,
		"POST /v2/email/outbound-bulk-emails":                    w.sendBulkEmail,
		"/":                                                      unknown,
	} {
		mux.Handle(pattern, w.handle(do))
	}
	return mux
}

// Transport returns a transport that passes requests for any host to New's handler in
// this process.
func Transport(c Config) http.RoundTripper { return inprocess.Transport{Handler: New(c)} }

// operation handles a request and returns the value to encode as JSON.
type operation func(r *http.Request) (any, error)

// handle returns the handler of one operation. It checks the key id of the signature
// first, and answers with JSON even on an error.
func (w *wire) handle(do operation) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(out, r.Body, maxBody)
		err := w.authenticate(r)
		var answer any
		if err == nil {
			answer, err = do(r)
		}
		out.Header().Set("Content-Type", "application/json")
		if err != nil {
			writeError(out, err)
			return
		}
		_ = json.NewEncoder(out).Encode(answer) // a client that has disconnected is not an error
	})
}

// authenticate checks the key id that a version 4 signature names. It does not verify
// the signature itself.
func (w *wire) authenticate(r *http.Request) error {
	_, credential, signed := strings.Cut(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=")
	if !signed {
		return &refusal{http.StatusForbidden, "MissingAuthenticationTokenException", "The request is not signed.", 0}
	}
	if key, _, _ := strings.Cut(credential, "/"); w.key != "" && key != w.key {
		return &refusal{http.StatusForbidden, "UnrecognizedClientException", "The security token included in the request is invalid.", 0}
	}
	return nil
}

// read decodes the body, which must be an object. It ignores unknown members.
func read[T any](r *http.Request) (T, error) {
	var in *T
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in == nil {
		var none T
		return none, &refusal{http.StatusBadRequest, "SerializationException", "The body is no JSON object of the operation.", 0}
	}
	return *in, nil
}

// listing is the start and the length of a page, as every listing has them.
type listing struct {
	// NextToken is "" for the first page.
	NextToken string
	// PageSize is 0 for the largest page.
	PageSize int
	// Filter is only in the body of a POST request.
	Filter map[string]any
}

// readListing reads the body of a POST request, and the query of any other. It fails
// with BadRequestException for a PageSize that is not a number.
func readListing(r *http.Request) (listing, error) {
	if r.Method == http.MethodPost {
		return read[listing](r)
	}
	query := r.URL.Query()
	l := listing{NextToken: query.Get("NextToken")}
	if size := query.Get("PageSize"); size != "" {
		var err error
		if l.PageSize, err = strconv.Atoi(size); err != nil {
			return l, badRequest("PageSize is no number.")
		}
	}
	return l, nil
}

// seconds returns a time in the wire format: seconds since 1970, with milliseconds.
func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
