def cv(): pass
