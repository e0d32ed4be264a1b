// Package consent is the page on which a person allows a client to act for them: the
// authorization endpoint of RFC 6749 section 3.1.
//
// It owns the page and the decision. Package oauth validates requests and issues codes.
// Package oauth/login identifies the person and provides the frame of the page.
//
// A form is valid for one session, one organization and one request, because its token
// is derived from all three. The request is validated again when the form is submitted;
// no value of the form is trusted.
package consent
