// Package suppression is whom not to mail: the sending account's own list, which is read live, and then// addresses that Mailhelm judges undeliverable from events, which is advice.
package suppression
