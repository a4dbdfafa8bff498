package wire

// Message is a Tell or an Ask that was taken apart.
type Message struct {
	ID      uint64
	Millis  uint64
	Target  uint32
	Type    uint32
	Payload []byte
}

// ParseTell takes the body of a Tell apart.
func ParseTell(body []byte) (m Message, err error) {
	if m.Target, body, err = CutNumber(body); err != nil {
		return m, err
	}
	m.Type, m.Payload, err = CutNumber(body)
	return m, err
}

// ParseAsk takes the body of an Ask apart.
func ParseAsk(body []byte) (m Message, err error) {
	if m.ID, body, err = CutID(body); err != nil {
		return m, err
	}
	if m.Millis, body, err = CutLong(body); err != nil {
		return m, err
	}
	tell, err := ParseTell(body)
	m.Target, m.Type, m.Payload = tell.Target, tell.Type, tell.Payload
	return m, err
}

// ParseReply takes the body of a Reply apart; it has no target.
func ParseReply(body []byte) (m Message, err error) {
	if m.ID, body, err = CutID(body); err != nil {
		return m, err
	}
	m.Type, m.Payload, err = CutNumber(body)
	return m, err
}

// ParseDefine takes the body of a Target or Type apart.
func ParseDefine(body []byte) (number uint32, name string, err error) {
	number, body, err = CutNumber(body)
	return number, string(body), err
}

// ParseCredit takes the body of a Credit apart.
func ParseCredit(body []byte) (target uint32, bytes uint64, err error) {
	if target, body, err = CutNumber(body); err != nil {
		return 0, 0, err
	}
	bytes, _, err = CutLong(body)
	return target, bytes, err
}
