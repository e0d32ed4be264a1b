// Package arrivals tests from outside how DMARC reports arrive: by SMTP and by Amazon SES, signed
// or not, and in servers that are killed.
package arrivals
