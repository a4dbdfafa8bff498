package option

import (
	"regexp"
	"strings"
)

// MaskURL returns a text with the passwords of the URLs and connection texts
// in it replaced: of scheme://user:password@host, of parameters such as
// password=…, of user:password@tcp(host). It does not parse, so it also masks
// what no parser takes; where it is unsure what a password is, it masks more.
func MaskURL(text string) string {
	var b strings.Builder
	for _, part := range splitURLs(text) {
		b.WriteString(maskUserInfo(part))
	}
	return secretParameter.ReplaceAllString(b.String(), "${1}"+mask)
}

// isConnectionText reports whether a text is a URL, a driver's address or
// libpq's name=value pairs: something that is more than one secret word.
func isConnectionText(text string) bool {
	return urlStart.MatchString(text) || driverUser.MatchString(text) || connectionPairs.MatchString(text)
}

// splitURLs cuts a text before each scheme:// that follows a space or quote,
// so that an @ of one URL does not hide another URL.
func splitURLs(text string) []string {
	var parts []string
	begin := 0
	for _, m := range schemeStart.FindAllStringSubmatchIndex(text, -1) {
		parts = append(parts, text[begin:m[2]])
		begin = m[2]
	}
	return append(parts, text[begin:])
}

// maskUserInfo masks what stands between the first colon of the authority and
// the last @ of the text: a raw password may hold / ? # and @ itself.
func maskUserInfo(part string) string {
	i := strings.Index(part, "://")
	if i < 0 {
		part = driverUser.ReplaceAllString(part, "${1}"+mask+"${2}")
		return bareUser.ReplaceAllString(part, "${1}"+mask+"${2}")
	}
	begin := i + len("://")
	end := strings.LastIndexByte(part, '@')
	if end < begin {
		return part
	}
	colon := strings.IndexByte(part[begin:end], ':')
	if colon < 0 {
		return part
	}
	return part[:begin+colon+1] + mask + part[end:]
}

var (
	schemeStart = regexp.MustCompile("[\\s\"'`(,=]([A-Za-z][A-Za-z0-9+.-]*://)")
	// driverUser is user:password@word(, a password of any letters.
	driverUser = regexp.MustCompile(`([^\s:/@]+:).*(@\w+\()`)
	// bareUser is user:password@host without a scheme.
	bareUser = regexp.MustCompile(`([^\s:/@]+:)\S*(@\S)`)
	urlStart = regexp.MustCompile(`^\s*[A-Za-z][A-Za-z0-9+.-]*://`)
	// connectionPairs finds a setting that only connection texts have.
	connectionPairs = regexp.MustCompile(`(?:^|\s)(?:host|hostaddr|port|dbname|user|password|service|sslmode)\s*=`)
	// secretParameter finds name=value where the name says that the value is
	// a secret, in a URL's query or a list of pairs.
	secretParameter = regexp.MustCompile(`(?i)((?:^|[^a-z])[a-z_-]*(?:password|passwd|pwd|passphrase|secret|token|` +
		`access_key|accesskey|api_key|apikey|signature|credential)[a-z_-]*\s*=\s*)` +
		`(?:'(?:[^'\\]|\\.)*'?|"(?:[^"\\]|\\.)*"?|[^\s&;'"]+)`)
)
