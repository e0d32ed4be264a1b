// Package consent is the page on which a person allows a client to act for them:
// the authorization endpoint of RFC 6749 section 3.1.
//
// It owns what the person sees and decides. What a request may ask for, and what
// becomes of the decision, is oauth; who the person is, and the frame of the
// page, is oauth/login.
//
// A form is good for one session, one organization and one request: its token is
// made of all three. The request is read again when the form comes back, so
// nothing that was shown is taken on trust.
package consent
