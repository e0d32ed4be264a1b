package main

import "testing"

// TestOTLPEndpoint checks the precedence of the settings of the OTLP endpoint.
// OTEL_EXPORTER_OTLP_ENDPOINT applies only if neither Mailhelm's flag nor its variable is
// set.
func TestOTLPEndpoint(t *testing.T) {
	t.Parallel()
	const standard, own = "OTEL_EXPORTER_OTLP_ENDPOINT", "MAILHELM_OTLP_ENDPOINT"
	for _, tc := range []struct {
		environment   map[string]string
		args          []string
		value, source string
	}{
		{nil, nil, "", "default"},
		{map[string]string{standard: "http://a:1"}, nil, "http://a:1", "environment " + standard},
		{map[string]string{standard: "http://a:1", own: "http://b:1"}, nil, "http://b:1", "environment " + own},
		{map[string]string{standard: "http://a:1", own: "http://b:1"}, []string{"--otlp-endpoint", "http://c:1"}, "http://c:1", "flag --otlp-endpoint"},
	} {
		if got := shownSettings(t, tc.environment, tc.args...)["otlp-endpoint"]; got.Value != tc.value || got.Source != tc.source {
			t.Errorf("%v %v: %+v", tc.environment, tc.args, got)
		}
	}
}
