package dev.windlass.example.orders;

import java.util.UUID;
import org.springframework.data.repository.ListCrudRepository;

interface OrderRepository extends ListCrudRepository<Order, UUID> {}
